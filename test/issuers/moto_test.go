//go:build issuers

package issuers

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

//go:embed requirements.txt
var requirements []byte

// Moto issues tokens like Amazon Cognito's, but always with the same key, and it has no
// domain for machine clients. The address of its keys is not Cognito's.
func TestMoto(t *testing.T) {
	t.Parallel()
	python, err := harness.Python("issuers-python", requirements)
	if err != nil {
		t.Fatal(err)
	}
	base := start(t, exec.Command(python, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"), `Running on (http://\S+)\n`)
	type object = map[string]any
	call := func(action string, params object) (got struct {
		UserPool             struct{ ID string }
		UserPoolClient       struct{ ClientID string }
		AuthenticationResult struct{ AccessToken, IDToken string }
	}) {
		t.Helper()
		body, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("POST", base, strings.NewReader(string(body)))
		req.Header.Set("Content-Type", "application/x-amz-json-1.1")
		req.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService."+action)
		// Moto takes the service and the region from the signature, which it doesn't verify.
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+
			"Credential=x/20260101/us-east-1/cognito-idp/aws4_request, SignedHeaders=host, Signature=x")
		if answer := send(t, req, err); len(answer) > 0 {
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	id := call("CreateUserPool", object{"PoolName": "plants"}).UserPool.ID
	call("AdminCreateUser", object{"UserPoolId": id, "Username": "alice"})
	call("AdminSetUserPassword", object{"UserPoolId": id, "Username": "alice", "Password": "Secret-1", "Permanent": true})
	client := call("CreateUserPoolClient", object{"UserPoolId": id, "ClientName": "web",
		"ExplicitAuthFlows": []string{"ALLOW_USER_PASSWORD_AUTH"}}).UserPoolClient.ClientID
	tokens := call("InitiateAuth", object{"ClientId": client, "AuthFlow": "USER_PASSWORD_AUTH",
		"AuthParameters": object{"USERNAME": "alice", "PASSWORD": "Secret-1"}}).AuthenticationResult
	region, _, _ := strings.Cut(id, "_")
	issuer{
		url: "https://cognito-idp." + region + ".amazonaws.com/" + id,
		// The tokens of Cognito's users name no scope of the service.
		settings:   []string{"TOKEN_JWKS_URL=" + base + "/" + id + "/.well-known/jwks.json", "REQUIRE_SCOPES=false"},
		idAudience: client, // of access tokens as well
		access:     func(...string) string { return tokens.AccessToken },
		id:         func() string { return tokens.IDToken },
	}.try(t)
}
