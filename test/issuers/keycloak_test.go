//go:build issuers

package issuers

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/harness"
)

const keycloakVersion = "26.7.3"

// installKeycloak returns the directory of Keycloak, which it downloads from Maven
// Central (180 MB). It builds Keycloak for its options, which takes longer than the
// start.
func installKeycloak(t *testing.T) string {
	t.Helper()
	options := []string{"build", "--db=dev-mem", "--cache=local"}
	dir, err := harness.Dir("issuers-keycloak", fmt.Append(nil, keycloakVersion, options), func(dir string) error {
		_, err := harness.Run("mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
			"-Dartifact=org.keycloak:keycloak-quarkus-dist:"+keycloakVersion+":zip", "-DoutputDirectory="+dir)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "keycloak-quarkus-dist-"+keycloakVersion+".zip")
		archive, err := zip.OpenReader(file)
		if err != nil {
			return err
		}
		defer archive.Close()
		if err := errors.Join(os.CopyFS(dir, archive), os.Remove(file)); err != nil {
			return err
		}
		_, err = harness.Run(filepath.Join(dir, "keycloak-"+keycloakVersion, "bin/kc.sh"), options...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "keycloak-"+keycloakVersion)
}

func TestKeycloak(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(filepath.Join(installKeycloak(t), "bin/kc.sh"), "start", "--optimized",
		"--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1", "--http-port=0")
	cmd.Env = harness.Environ("KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD=secret")
	k := keycloak(start(t, cmd, `Listening on: (http://\S+?)\.?\s`))
	k.setUp(t)
	alice := func(scopes ...string) tokens {
		return k.tokens(t, "plants", url.Values{"client_id": {"web"}, "client_secret": {"secret"}, "username": {"alice"}, "scope": {strings.Join(scopes, " ")}})
	}
	issuer{
		url:        string(k) + "/realms/plants",
		idAudience: "web",
		access:     func(scopes ...string) string { return alice(scopes...).Access },
		id:         func() string { return alice("openid").ID },
		rotate: func() {
			k.create(t, "/realms/plants/components", `{"name": "new", "providerType": "org.keycloak.keys.KeyProvider",
				"providerId": "rsa-generated", "config": {"priority": ["200"], "algorithm": ["RS256"]}}`)
		},
	}.try(t)
}

// keycloak is the address of a server.
type keycloak string

type tokens struct {
	Access string `json:"access_token"`
	ID     string `json:"id_token"`
}

// tokens requests tokens with the password grant.
func (k keycloak) tokens(t *testing.T, realm string, form url.Values) (got tokens) {
	t.Helper()
	form.Set("grant_type", "password")
	form.Set("password", "secret")
	req, err := http.NewRequest("POST", string(k)+"/realms/"+realm+"/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := json.Unmarshal(send(t, req, err), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// setUp creates the realm plants with the user alice and a client. The client
// scope basic adds sub to Keycloak's tokens, and only a mapper adds aud.
func (k keycloak) setUp(t *testing.T) {
	t.Helper()
	k.create(t, "/realms", `{"realm": "plants", "enabled": true}`)
	for _, scope := range []string{"plants/read", "plants/write"} {
		k.create(t, "/realms/plants/client-scopes", fmt.Sprintf(
			`{"name": %q, "protocol": "openid-connect", "attributes": {"include.in.token.scope": "true"}}`, scope))
	}
	k.create(t, "/realms/plants/users", `{"username": "alice", "enabled": true, "email": "alice@plants.test", "firstName": "A", "lastName": "B",
		"credentials": [{"type": "password", "value": "secret"}]}`)
	k.create(t, "/realms/plants/clients", fmt.Sprintf(`{"clientId": "web", "secret": "secret", "directAccessGrantsEnabled": true,
		"defaultClientScopes": ["basic"], "optionalClientScopes": ["plants/read", "plants/write"],
		"protocolMappers": [{"name": "audience", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
			"config": {"included.custom.audience": %q, "access.token.claim": "true"}}]}`, audience))
}

// create sends a POST to the administration API.
func (k keycloak) create(t *testing.T, path, body string) {
	t.Helper()
	admin := k.tokens(t, "master", url.Values{"client_id": {"admin-cli"}, "username": {"admin"}})
	req, err := http.NewRequest("POST", string(k)+"/admin"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+admin.Access)
	req.Header.Set("Content-Type", "application/json")
	send(t, req, err)
}
