package auth_test

import (
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// The claims come from the issuers' documentation or source code. Claims common to all
// tokens are left out. None names a scope of the service.
func TestTokensOfIssuers(t *testing.T) {
	const send = "send the access token"
	issuer := authtest.NewIssuer(t)
	required, optional := issuer.Verifier(t, auth.Config{}), issuer.Verifier(t, auth.Config{ScopesOptional: true})
	for _, test := range []struct{ token, claims, want string }{
		// Pocket ID 2.6.2: backend/internal/service/jwt_service.go
		{"Pocket ID access", `"type":"oauth-access-token","jti":"x"`, ""},
		{"Pocket ID refresh", `"type":"refresh-token","rt":"x","client_id":"web"`, send},
		{"Pocket ID ID", `"type":"id-token","email":"a@b.test","groups":[],"name":"Alice"`, send},
		// Casdoor: object/token_jwt.go and object/token_standard_jwt.go. Its ID token is
		// its access token.
		{"Casdoor access, ID", `"name":"alice","type":"normal-user","tokenType":"access-token","nonce":"x","tag":"","scope":"openid","azp":"web","provider":""`, ""},
		{"Casdoor JWT-Custom", `"name":"alice","nonce":"","roles":[{"name":"x"}],"permissions":null`, ""},
		{"Casdoor refresh", `"name":"alice","type":"normal-user","tokenType":"refresh-token","nonce":"x","scope":"openid"`, send},
		// PingAM and ForgeRock AM, client-side tokens as their users publish them:
		// https://docs.pingidentity.com/pinggateway/2026/gateway-guide/oauth2-rs-stateless.html
		{"PingAM access", `"cts":"OAUTH2_STATELESS_GRANT","auth_level":3,"subname":"x","tokenName":"access_token","token_type":"Bearer","authGrantId":"x",` +
			`"client_id":"Basic","grant_type":"authorization_code","scope":["openid","profile"],"auth_time":1761261789,"realm":"/alpha","expires_in":3600`, ""},
		// https://docs.descope.com/session-overview
		{"Descope session", `"amr":["email"],"drn":"DS","rexp":"2026-02-04T23:46:02Z"`, ""},
		{"Descope refresh", `"amr":["email"],"drn":"DSR"`, ""}, // only rejected if scopes are required
		// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html
		{"Cognito access", `"token_use":"access","scope":"aws.cognito.signin.user.admin","auth_time":1,"client_id":"web","username":"alice"`, ""},
		{"Cognito ID", `"token_use":"id","auth_time":1,"cognito:username":"alice","at_hash":"x","nonce":"x"`, send},
		// Keycloak 26
		{"Keycloak access", `"typ":"Bearer","azp":"web","sid":"x","acr":"1","scope":"profile email","auth_time":1,"realm_access":{"roles":["offline_access"]}`, ""},
		{"Keycloak ID", `"typ":"ID","azp":"web","sid":"x","acr":"1","email_verified":false`, send},
		{"Keycloak refresh", `"typ":"Refresh","azp":"web","sid":"x","scope":"profile email"`, send},
		{"Keycloak logout", `"typ":"Logout","sid":"x","events":{"http://schemas.openid.net/event/backchannel-logout":{}}`, send},
		// django-allauth 65.21: allauth/idp/oidc/internal/oauthlib/server.py
		{"django-allauth access", `"client_id":"web","jti":"x","token_use":"access","scope":"openid"`, ""},
		// https://supabase.com/docs/guides/auth/jwt-fields
		{"Supabase", `"aal":"aal1","amr":[{"method":"password","timestamp":1}],"email":"a@b.test","is_anonymous":false,"phone":"","role":"authenticated","session_id":"x"`, ""},
		// https://docs.github.com/actions/reference/openid-connect-reference
		{"GitHub Actions", `"environment":"prod","ref":"refs/heads/main","repository":"octo-org/octo-repo","repository_owner":"octo-org","actor":"octocat"`, ""},
		// https://docs.gitlab.com/ci/secrets/id_token_authentication/
		{"GitLab.com", `"namespace_path":"g","project_path":"g/p","user_login":"u","pipeline_id":"1","ref":"main","ref_type":"branch"`, ""},
		// https://developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens
		{"HCP Terraform", `"terraform_run_phase":"apply","terraform_organization_name":"o","terraform_workspace_name":"w"`, ""},
		// https://buildkite.com/docs/agent/v3/cli-oidc
		{"Buildkite", `"organization_slug":"o","pipeline_slug":"p","build_number":1,"agent_id":"x"`, ""},
		// https://cloud.google.com/docs/authentication/token-types
		{"Google service account", `"azp":"1","email":"x@p.iam.gserviceaccount.com","email_verified":true`, ""},
	} {
		t.Run(test.token, func(t *testing.T) {
			token := es256(issuer, claimsAnd(test.claims))
			check(t, required, token, test.want)
			if test.want == "" {
				checkScopes(t, required, token, "")
				checkScopes(t, optional, token, "plants/read plants/write")
			}
		})
	}
}
