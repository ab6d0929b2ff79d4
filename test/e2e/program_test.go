package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
	"example.com/plantstore/test/session"
)

func TestMain(m *testing.M) { harness.Main(m) }

// checkLog checks that each line of a log is a JSON object with a level, a
// message and a time, and that none contains a token or a stack trace.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for text := range strings.Lines(log) {
		var line map[string]any
		if !strings.HasSuffix(text, "\n") {
			continue // the process was killed
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%v in the log line %s", err, text)
		}
		if line["level"] == nil || line["msg"] == nil || line["time"] == nil || line["stack"] != nil {
			t.Errorf("incomplete log line, or a panic: %s", text)
		}
	}
	if strings.Contains(log, "eyJ") { // as all tokens begin
		t.Error("the log contains a token")
	}
}

// A server is a process of cmd/local.
type server struct{ *plainserver.Server }

// start starts the program with its data in dir and waits until it listens. When
// the test ends, it checks the output.
func start(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	p := &server{}
	t.Cleanup(func() { // after the program has ended
		if p.Server == nil {
			return
		}
		checkLog(t, p.Stdout.String())
		for _, sign := range []string{"panic", "goroutine ", "DATA RACE"} {
			if text := p.Stderr.String(); strings.Contains(text, sign) {
				t.Errorf("%s on standard error:\n%.5000s", sign, text)
			}
		}
	})
	p.Server = plainserver.Start(t, env, dir, args...)
	return p
}

// token returns a token of the program's own issuer.
func (p *server) token(tb testing.TB, subject string) string {
	tb.Helper()
	return p.Token(tb, url.Values{"client_id": {subject}})
}

// user returns a user of the program.
func (p *server) user(t *testing.T, subject string) session.Client {
	t.Helper()
	return newClient(t, p.Base, p.token(t, subject))
}

func newClient(t *testing.T, base, token string) session.Client {
	return session.Client{T: t, Front: session.Front{Base: base}, Token: token}
}

// trust returns the environment of a program that trusts issuers of package
// authtest. Keys is the variable that says where their keys are.
func trust(keys string) []string {
	return []string{
		config.EnvTokenIssuer + "=" + authtest.IssuerURL,
		config.EnvTokenAudience + "=other, " + authtest.Audience,
		keys,
	}
}
