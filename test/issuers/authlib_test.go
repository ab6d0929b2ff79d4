//go:build issuers

package issuers

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// Authlib's server has the metadata of RFC 8414 alone.
func TestAuthlib(t *testing.T) {
	t.Parallel()
	base := start(t, exec.Command(python(t), "python/authlib_server.py"), `(?m)^issuer (\S+)\n`)
	s := oauthServer{base + "/authorize", base + "/token"}
	job := func(t *testing.T, client string, scopes ...string) string {
		return s.job(t, client, url.Values{"scope": {strings.Join(scopes, " ")}})
	}
	issuer{
		url:           base,
		idAudience:    "web",
		readOnly:      true,
		access:        func(t *testing.T, scopes ...string) string { return job(t, "job", scopes...) },
		otherAudience: func(t *testing.T) string { return job(t, "other", "plants/read") },
		short:         func(t *testing.T) string { return job(t, "short", "plants/read") },
		id:            func(t *testing.T) string { return s.login(t, url.Values{"scope": {"openid"}}).ID },
		rotate:        func(t *testing.T) { post(t, base+"/rotate") },
	}.try(t)
}
