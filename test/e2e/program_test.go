package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// issued keeps the tokens of a test, none of which may be logged.
type issued struct {
	mu     sync.Mutex
	tokens []string
}

func (i *issued) keep(token string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.tokens = append(i.tokens, token)
	return token
}

// checkLog checks that each line of a log is a JSON object with a level, a
// message and a time, and that none contains a token or a stack trace.
func (i *issued) checkLog(t *testing.T, log string) {
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
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, token := range i.tokens {
		if signature := token[strings.LastIndexByte(token, '.'):]; strings.Contains(log, signature) {
			t.Error("the log contains a token")
		}
	}
}

// sign returns a token of the issuer.
func sign(issuer *authtest.Issuer, r TokenRequest) string {
	claims := authtest.Claims(r.Subject, r.Scopes...)
	if r.Expired {
		claims["exp"] = time.Now().Add(-time.Hour).Unix()
	}
	return issuer.Sign(claims)
}

// A server is a process of cmd/local.
type server struct {
	*program.Program
	issued
}

// launch starts the program with its data in dir, without waiting until it
// listens. When the test ends, it checks the output.
func launch(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	p := &server{Program: program.Command(t, env, dir, args...)}
	t.Cleanup(func() {
		p.checkLog(t, p.Stdout.String())
		for _, sign := range []string{"panic", "goroutine ", "DATA RACE"} {
			if text := p.Stderr.String(); strings.Contains(text, sign) {
				t.Errorf("%s on standard error:\n%.5000s", sign, text)
			}
		}
	})
	p.Begin(t)
	return p
}

// start starts the program with its data in dir and waits until it listens.
func start(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	p := launch(t, env, dir, args...)
	p.AwaitListening(t)
	return p
}

// target returns the program, with tokens of its own issuer, as a [Target].
func (p *server) target() Target { return docsPage.target(p.Base, p.token) }

func (p *server) token(tb testing.TB, r TokenRequest) string {
	tb.Helper()
	if r.Expired {
		tb.Skip("the program's own issuer has no expired tokens; TestDynamoDB runs this part")
	}
	form := url.Values{"client_id": {r.Subject}}
	if len(r.Scopes) > 0 {
		form.Set("scope", strings.Join(r.Scopes, " "))
	}
	return p.keep(p.Token(tb, form))
}

// user returns a client of the program, and the token of a new user.
func (p *server) user(t *testing.T) (c *client, token string) {
	t.Helper()
	return newClient(p.target()), p.token(t, TokenRequest{Subject: newSubject()})
}

// expect checks the answer to an operation with a token. If code is 0, any code
// of the status will do.
func expect(t *testing.T, c *client, token, method string, status, code int) {
	t.Helper()
	target := map[string]string{"GET": "/plants", "POST": "/plants", "DELETE": "/plants/1"}[method]
	expectAnswer(t, c, request{method: method, target: target, headers: bearer(token)}, status, code)
}

// expectAnswer checks the status of the answer to r, and its code unless that is
// 0. Messages must not contain internal errors.
func expectAnswer(t *testing.T, c *client, r request, status, code int) answer {
	t.Helper()
	a, err := c.send(t, r)
	if err == nil && (a.status != status || code != 0 && a.code() != code || strings.Contains(string(a.body), "Exception")) {
		t.Errorf("want status %d and error %d:\n%s%s", status, code, r, a)
	}
	if err != nil {
		t.Error(err)
	}
	return a
}

// code returns the error code of an answer.
func (a answer) code() int {
	var body struct{ Error int }
	json.Unmarshal(a.body, &body) // not every answer has one
	return body.Error
}

// rerun returns a command that runs this test binary with other arguments and
// additional environment variables.
func rerun(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.v"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// The start-up messages tell a person how to send the first request.
func TestBanner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, program.Environ(), dir)
	p.Stop(t)
	text := p.Stderr.String()
	for _, want := range []string{"listening on " + p.Base + "\n", dir, "try it in a browser: " + p.Base + "/\n", "curl ", p.Base + "/oauth2/token"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
