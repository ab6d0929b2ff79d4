package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"

	cryptorand "crypto/rand"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// A server is a running cmd/local.
type server struct {
	*program.Program
	mayFail bool // the test makes faults that are answered 500
	mu      sync.Mutex
	tokens  []string // that it issued
}

// command returns the program with its data in dir, not yet started.
func command(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	return &server{Program: program.Command(t, env, dir, args...)}
}

// launch starts the program with its data in dir, and doesn't wait until it
// listens.
func launch(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	p := command(t, env, dir, args...)
	p.begin(t)
	return p
}

// start starts the program with its data in dir, and returns once it listens.
func start(t *testing.T, env []string, dir string, args ...string) *server {
	t.Helper()
	p := launch(t, env, dir, args...)
	p.AwaitListening(t)
	return p
}

// begin starts the process, and checks its output when the test ends.
func (p *server) begin(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { p.checkOutput(t) })
	p.Begin(t)
}

// checkOutput checks that each line of the log is JSON, and that nothing that
// the program wrote holds a token, nor says that anything has gone wrong in it.
func (p *server) checkOutput(t *testing.T) {
	for line := range strings.Lines(p.Stdout.String()) {
		if strings.HasSuffix(line, "\n") && !json.Valid([]byte(line)) { // the last may be cut off by a kill
			t.Errorf("a line of the log is not JSON: %s", line)
		}
	}
	all := p.Stdout.String() + p.Stderr.String()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range p.tokens {
		if i := strings.LastIndexByte(token, '.'); strings.Contains(all, token[i:]) {
			t.Errorf("the output holds a token")
		}
	}
	for _, sign := range []string{"panic", "goroutine ", "DATA RACE", `"status":500`} {
		if strings.Contains(all, sign) && !(sign == `"status":500` && p.mayFail) {
			t.Errorf("the output holds %q:\n%.5000s", sign, all[strings.Index(all, sign):])
		}
	}
}

// onLoopback makes base the address on this machine of a program that listens
// on every one.
func (p *server) onLoopback(t *testing.T) {
	t.Helper()
	u, err := url.Parse(p.Base)
	if err != nil {
		t.Fatal(err)
	}
	p.Base = "http://127.0.0.1:" + u.Port()
}

// localLacks says what the program has beyond the service.
var localLacks = map[string]string{"routes: /": "the plain server has a page for people there"}

// target returns the program as a Target of the suite.
func (p *server) target() Target {
	return Target{Base: p.Base, Token: p.token, Lacks: localLacks, Observe: documented()}
}

// token asks the program's own issuer for a token. One that has expired it
// doesn't hand out, so that is made with its key.
func (p *server) token(tb testing.TB, r TokenRequest) string {
	tb.Helper()
	form := url.Values{"client_id": {r.Subject}}
	if len(r.Scopes) > 0 {
		form.Set("scope", strings.Join(r.Scopes, " "))
	}
	token := p.Token(tb, form)
	if r.Expired {
		token = aged(tb, p.Data, token)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = append(p.tokens, token)
	return token
}

// newSubject returns the name of a user that nothing else has.
func newSubject() string { return "user-" + cryptorand.Text() }
