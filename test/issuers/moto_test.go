//go:build issuers

package issuers

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// Moto has the tokens of Amazon Cognito, but one key for ever and no domain for
// machine clients. The address of its keys is not Cognito's.
func TestMoto(t *testing.T) {
	t.Parallel()
	base := start(t, exec.Command(python(t), "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"), `Running on (http://\S+)\n`)
	c := cognito(base)
	var pool struct{ UserPool struct{ ID string } }
	c.call(t, "CreateUserPool", map[string]any{"PoolName": "plants"}, &pool)
	id := pool.UserPool.ID
	c.call(t, "AdminCreateUser", map[string]any{"UserPoolId": id, "Username": "alice"}, nil)
	c.call(t, "AdminSetUserPassword", map[string]any{"UserPoolId": id, "Username": "alice", "Password": "Secret-1", "Permanent": true}, nil)
	login := func(t *testing.T, client string) (access, idToken string) {
		var got struct {
			AuthenticationResult struct{ AccessToken, IDToken string }
		}
		c.call(t, "InitiateAuth", map[string]any{"ClientId": client, "AuthFlow": "USER_PASSWORD_AUTH",
			"AuthParameters": map[string]string{"USERNAME": "alice", "PASSWORD": "Secret-1"}}, &got)
		return got.AuthenticationResult.AccessToken, got.AuthenticationResult.IDToken
	}
	client := func() string {
		var got struct{ UserPoolClient struct{ ClientID string } }
		c.call(t, "CreateUserPoolClient", map[string]any{"UserPoolId": id, "ClientName": "web",
			"ExplicitAuthFlows": []string{"ALLOW_USER_PASSWORD_AUTH"}}, &got)
		return got.UserPoolClient.ClientID
	}
	web, other := client(), client()
	region, _, _ := strings.Cut(id, "_")
	issuer{
		url:        "https://cognito-idp." + region + ".amazonaws.com/" + id,
		settings:   []string{"TOKEN_JWKS_URL=" + base + "/" + id + "/.well-known/jwks.json"},
		idAudience: web, // of access tokens as well
		access: func(t *testing.T, _ ...string) string {
			access, _ := login(t, web)
			return access
		},
		otherAudience: func(t *testing.T) string {
			access, _ := login(t, other)
			return access
		},
		id: func(t *testing.T) string {
			_, idToken := login(t, web)
			return idToken
		},
	}.try(t)
}

// cognito is the address of Amazon Cognito's API.
type cognito string

func (c cognito) call(t *testing.T, action string, params, result any) {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", string(c), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService."+action)
	// Moto takes the service and the region from the signature, which it doesn't verify.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/cognito-idp/aws4_request, SignedHeaders=host, Signature=x")
	status, answer, err := send(http.DefaultClient, req)
	if err == nil && result != nil {
		err = json.Unmarshal([]byte(answer), result)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", action, status, answer, err)
	}
}
