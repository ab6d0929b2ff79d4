//go:build issuers

// Package issuers tests the plain server with tokens of an issuer that people use.
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
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
	"example.com/plantstore/test/session"
)

func TestMain(m *testing.M) { harness.Main(m) }

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

// startLimit is for the start of Keycloak, which takes minutes on a slow machine.
const startLimit = 5 * time.Minute

// TestKeycloak sets Keycloak up with the commands of docs/tokens.md, and runs the plain server with
// that issuer. It accepts access tokens for what they name, and those of a new key, but no ID token.
func TestKeycloak(t *testing.T) {
	dir := installKeycloak(t)
	cmd := exec.Command(filepath.Join(dir, "bin/kc.sh"), "start", "--optimized",
		"--http-enabled=true", "--hostname-strict=false", "--http-host=127.0.0.1", "--http-port=0")
	cmd.Env = harness.Environ("KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD=admin")
	keycloak, err := harness.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keycloak.Stop() })
	base := keycloak.AwaitFor(t, startLimit, `Listening on: (http://\S+?)\.?\s`)[1]
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

	realm := base + "/realms/demo"
	p := plainserver.Start(t, harness.Environ("TOKEN_ISSUER="+realm, "TOKEN_AUDIENCE=plants,web"), t.TempDir())
	user := func(token string) session.Client {
		return session.Client{T: t, Front: session.Front{Base: p.Base}, Token: token}
	}
	web, reader := requestTokens(t, realm, "web"), requestTokens(t, realm, "reader")
	user(web.Access).Create(plantstest.Example(7))
	user(web.Access).Owns(plantstest.Example(7))
	user(web.Access).Do("DELETE", "/plants/7").Gets(204, "")
	user(web.ID).Do("GET", "/plants").Fails(40101)
	user(reader.Access).Owns()
	user(reader.Access).Do("POST", "/plants").Fails(40300)

	run(`bin/kcadm.sh create components -r demo -s name=new -s providerType=org.keycloak.keys.KeyProvider \
		-s providerId=rsa-generated -s 'config={"priority":["200"],"algorithm":["RS256"]}'`)
	var rotated tokens
	harness.Await(t, func() error {
		rotated = requestTokens(t, realm, "reader")
		if header, _, _ := strings.Cut(rotated.Access, "."); strings.HasPrefix(reader.Access, header) {
			return fmt.Errorf("still the old key: %s", header)
		}
		return nil
	})
	time.Sleep(auth.RetryAfter) // by then, a new key works
	user(rotated.Access).Owns()
	user(reader.Access).Owns()
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

// requestTokens requests tokens for alice, by the password grant.
func requestTokens(t *testing.T, realm, client string) (got tokens) {
	t.Helper()
	form := url.Values{"grant_type": {"password"}, "client_id": {client}, "scope": {"openid"},
		"username": {"alice"}, "password": {"secret"}}
	req, err := http.NewRequest("POST", realm+"/protocol/openid-connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, body := harness.Send(t, req)
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Access == "" {
		t.Fatalf("no token for %s: %v\n%s", client, err, body)
	}
	return got
}
