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
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
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

// TestKeycloak sets Keycloak up with the commands of docs/tokens.md.
func TestKeycloak(t *testing.T) {
	t.Parallel()
	dir := installKeycloak(t)
	cmd := exec.Command(filepath.Join(dir, "bin/kc.sh"), "start", "--optimized",
		"--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1", "--http-port=0")
	cmd.Env = harness.Environ("KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD=admin")
	base := start(t, cmd, `Listening on: (http://\S+?)\.?\s`)
	home := t.TempDir() // where kcadm.sh stays logged in
	run := func(script string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, harness.Environ("HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\nfails: %v\n%s", script, err, out)
		}
	}
	run(strings.Replace(pageCommands(t), "http://localhost:8180", base, 1) + `
create_client -s clientId=reader -s publicClient=true -s directAccessGrantsEnabled=true \
	-s 'defaultClientScopes=["basic","plants/read"]'`)
	alice := func(client string) tokens {
		return requestTokens(t, base+"/realms/garden", url.Values{"client_id": {client}, "scope": {"openid"},
			"username": {"alice"}, "password": {"secret"}})
	}
	issuer{
		url:        base + "/realms/garden",
		idAudience: "web",
		access: func(scopes ...string) string {
			if len(scopes) == 1 {
				return alice("reader").Access
			}
			return alice("web").Access
		},
		id: func() string { return alice("web").ID },
		rotate: func() {
			run(`bin/kcadm.sh create components -r garden -s name=new -s providerType=org.keycloak.keys.KeyProvider \
				-s providerId=rsa-generated -s 'config={"priority":["200"],"algorithm":["RS256"]}'`)
		},
	}.try(t)
}

// pageCommands returns the commands of docs/tokens.md that set Keycloak up.
func pageCommands(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/tokens.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)\n```sh\n(KEYCLOAK=.*?)```").FindSubmatch(page)
	if commands == nil {
		t.Fatal("docs/tokens.md has no block of commands that begins with KEYCLOAK=")
	}
	return string(commands[1])
}

type tokens struct {
	Access string `json:"access_token"`
	ID     string `json:"id_token"`
}

// requestTokens requests tokens of a realm with the password grant.
func requestTokens(t *testing.T, realm string, form url.Values) (got tokens) {
	t.Helper()
	form.Set("grant_type", "password")
	req, err := http.NewRequest("POST", realm+"/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := json.Unmarshal(send(t, req, err), &got); err != nil {
		t.Fatal(err)
	}
	return got
}
