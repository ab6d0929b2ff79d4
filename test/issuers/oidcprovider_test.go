//go:build issuers

package issuers

import (
	"embed"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/tools"
)

//go:embed oidc-provider/.npmrc oidc-provider/package.json oidc-provider/server.js
var oidcProvider embed.FS

func TestOIDCProvider(t *testing.T) {
	t.Parallel()
	var content []byte
	for _, name := range []string{".npmrc", "package.json", "server.js"} {
		b, err := oidcProvider.ReadFile("oidc-provider/" + name)
		if err != nil {
			t.Fatal(err)
		}
		content = append(content, b...)
	}
	dir := cached(t, "issuers-node", content, func(dir string) error {
		if err := os.CopyFS(dir, oidcProvider); err != nil {
			return err
		}
		_, err := tools.Run("npm", "--prefix", filepath.Join(dir, "oidc-provider"), "install", "--no-audit", "--no-fund")
		return err
	})
	base := start(t, exec.Command("node", filepath.Join(dir, "oidc-provider/server.js")), `(?m)^issuer (\S+)\n`)
	s := oauthServer{base + "/auth", base + "/token"}
	job := func(t *testing.T, resource string, scopes ...string) string {
		return s.job(t, "job", url.Values{"resource": {resource}, "scope": {strings.Join(scopes, " ")}})
	}
	issuer{
		url:           base,
		idAudience:    "web",
		readOnly:      true,
		access:        func(t *testing.T, scopes ...string) string { return job(t, audience, scopes...) },
		otherAudience: func(t *testing.T) string { return job(t, "urn:other", "plants/read") },
		short:         func(t *testing.T) string { return job(t, audience+":short", "plants/read") },
		id:            func(t *testing.T) string { return s.login(t, url.Values{"scope": {"openid"}, "nonce": {"n"}}).ID },
		rotate:        func(t *testing.T) { post(t, base+"/rotate") },
	}.try(t)
}
