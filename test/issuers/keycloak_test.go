//go:build issuers

package issuers

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/tools"
)

const keycloakVersion = "26.7.3"

// installKeycloak returns the directory of Keycloak, 180 MB from Maven Central. It
// is built for its options, which takes longer than the start.
func installKeycloak(t *testing.T) string {
	t.Helper()
	options := []string{"build", "--db=dev-mem", "--cache=local"}
	dir := cached(t, "issuers-keycloak", fmt.Append(nil, keycloakVersion, options), func(dir string) error {
		_, err := tools.Run("mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
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
		if err := os.CopyFS(dir, archive); err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return err
		}
		_, err = tools.Run(filepath.Join(dir, "keycloak-"+keycloakVersion, "bin/kc.sh"), options...)
		return err
	})
	return filepath.Join(dir, "keycloak-"+keycloakVersion)
}

func TestKeycloak(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(filepath.Join(installKeycloak(t), "bin/kc.sh"), "start", "--optimized",
		"--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1", "--http-port=0")
	cmd.Env = append(os.Environ(), "KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD=secret")
	k := keycloak(start(t, cmd, `Listening on: (http://\S+?)\.?\s`))
	k.setUp(t)
	s := oauthServer{token: k.url("/realms/plants/protocol/openid-connect/token")}
	alice := func(t *testing.T, client string, scopes ...string) tokens {
		return s.grant(t, client, url.Values{"grant_type": {"password"}, "username": {"alice"}, "password": {"secret"}, "scope": {strings.Join(scopes, " ")}})
	}
	issuer{
		url:           k.url("/realms/plants"),
		idAudience:    "web",
		readOnly:      true,
		access:        func(t *testing.T, scopes ...string) string { return alice(t, "web", scopes...).Access },
		otherAudience: func(t *testing.T) string { return alice(t, "other", "plants/read").Access },
		short:         func(t *testing.T) string { return alice(t, "short", "plants/read").Access },
		id:            func(t *testing.T) string { return alice(t, "web", "openid").ID },
		rotate: func(t *testing.T) {
			k.create(t, "/realms/plants/components", `{"name": "new", "providerType": "org.keycloak.keys.KeyProvider",
				"providerId": "rsa-generated", "config": {"priority": ["200"], "algorithm": ["RS256"]}}`)
		},
	}.try(t)
}

// keycloak is the address of a server.
type keycloak string

func (k keycloak) url(path string) string { return string(k) + path }

// setUp makes the realm plants with the user alice and three clients. The client
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
	for _, client := range []struct{ id, audience, lifespan string }{
		{"web", audience, "3600"},
		{"short", audience, "1"},
		{"other", "urn:other", "3600"},
	} {
		k.create(t, "/realms/plants/clients", fmt.Sprintf(`{"clientId": %q, "secret": "secret", "directAccessGrantsEnabled": true,
			"attributes": {"access.token.lifespan": %q},
			"defaultClientScopes": ["basic"], "optionalClientScopes": ["plants/read", "plants/write"],
			"protocolMappers": [{"name": "audience", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
				"config": {"included.custom.audience": %q, "access.token.claim": "true"}}]}`, client.id, client.lifespan, client.audience))
	}
}

// create sends a POST to the administration API.
func (k keycloak) create(t *testing.T, path, body string) {
	t.Helper()
	resp, err := http.PostForm(k.url("/realms/master/protocol/openid-connect/token"),
		url.Values{"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {"admin"}, "password": {"secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var admin tokens
	if err := json.NewDecoder(resp.Body).Decode(&admin); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", k.url("/admin"+path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+admin.Access)
	req.Header.Set("Content-Type", "application/json")
	if status, answer, err := send(http.DefaultClient, req); err != nil || status != http.StatusCreated {
		t.Fatalf("POST %s: %d %s, %v", path, status, answer, err)
	}
}
