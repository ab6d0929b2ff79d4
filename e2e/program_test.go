package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/internal/syncbuf"
)

// A program is a running cmd/local.
type program struct {
	base           string // its address
	data           string // its data folder
	cmd            *exec.Cmd
	stdout, stderr syncbuf.Buffer
	mayFail        bool          // the test makes faults that are answered 500
	exited         chan struct{} // closed once it has
	mu             sync.Mutex
	tokens         []string // that it issued
}

// environ returns the environment of the tests without AWS settings, and with
// what is given.
func environ(extra ...string) []string {
	aws := func(kv string) bool { return strings.HasPrefix(kv, "AWS_") || strings.HasPrefix(kv, "TABLE_NAME=") }
	return append(slices.DeleteFunc(os.Environ(), aws), extra...)
}

// command returns the program with its data in dir, listening on a free port of
// this machine, unless the arguments say otherwise.
func command(t *testing.T, env []string, dir string, args ...string) *program {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-addr", "127.0.0.1:0", "-data", dir}, args...)
	p := &program{data: dir, cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, &p.stdout, &p.stderr
	return p
}

// launch starts the program with its data in dir, and doesn't wait for it to
// listen, if it does.
func launch(t *testing.T, env []string, dir string, args ...string) *program {
	t.Helper()
	p := command(t, env, dir, args...)
	p.begin(t)
	return p
}

// start starts the program with its data in dir, and returns once it says that
// it listens. It is stopped in the end.
func start(t *testing.T, env []string, dir string, args ...string) *program {
	t.Helper()
	p := launch(t, env, dir, args...)
	p.awaitListening(t)
	return p
}

func (p *program) begin(t *testing.T) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait() // ProcessState has the outcome
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		p.checkOutput(t)
	})
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)

func (p *program) awaitListening(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.base == ""; time.Sleep(5 * time.Millisecond) {
		if m := listening.FindStringSubmatch(p.stderr.String()); m != nil {
			p.base = m[1]
		} else if p.hasExited() || time.Now().After(deadline) {
			t.Fatalf("the program does not listen:\n%s", p.stderr.String())
		}
	}
}

// stop asks the program to end, as kill(1) does, and waits for it.
func (p *program) stop(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		p.kill() // there are no signals
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t, 20*time.Second); code != 0 {
		t.Errorf("the program ended with exit code %d:\n%s", code, p.stderr.String())
	}
}

func (p *program) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill ends the program at once, without a chance to do anything.
func (p *program) kill() {
	p.cmd.Process.Kill() // an error means that it has ended
	<-p.exited
}

// wait returns the exit code, once the program ends by itself.
func (p *program) wait(t *testing.T, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(limit):
		t.Fatalf("the program still runs after %v:\n%s", limit, p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// checkOutput checks that each line of the log is JSON, and that nothing that
// the program wrote holds a token, nor says that anything has gone wrong in it.
func (p *program) checkOutput(t *testing.T) {
	for line := range strings.Lines(p.stdout.String()) {
		if strings.HasSuffix(line, "\n") && !json.Valid([]byte(line)) { // the last may be cut off by a kill
			t.Errorf("a line of the log is not JSON: %s", line)
		}
	}
	all := p.stdout.String() + p.stderr.String()
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
func (p *program) onLoopback(t *testing.T) {
	t.Helper()
	u, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	p.base = "http://127.0.0.1:" + u.Port()
}

// localLacks says what the program has beyond the service.
var localLacks = map[string]string{"routes: /": "the plain server has a page for people there"}

// target returns the program as a Target of the suite.
func (p *program) target() Target {
	return Target{Base: p.base, Token: p.token, Lacks: localLacks, Observe: documented()}
}

// token asks the program's own issuer for a token. One that has expired it
// doesn't hand out, so that is made with its key.
func (p *program) token(tb testing.TB, r TokenRequest) string {
	tb.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {r.Subject}}
	if len(r.Scopes) > 0 {
		form.Set("scope", strings.Join(r.Scopes, " "))
	}
	token := askForToken(tb, p.base, form)
	if r.Expired {
		token = aged(tb, p.data, token)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = append(p.tokens, token)
	return token
}

// askForToken sends a request as OAuth 2.0 servers take it.
func askForToken(tb testing.TB, base string, form url.Values) string {
	tb.Helper()
	resp, err := http.PostForm(base+"/oauth2/token", form)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	var grant struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &grant); err != nil || grant.AccessToken == "" || grant.TokenType != "Bearer" || grant.ExpiresIn <= 0 {
		tb.Fatalf("no token for %v: %d\n%s", form, resp.StatusCode, body)
	}
	return grant.AccessToken
}

// newSubject returns the name of a user that nothing else has.
func newSubject() string { return "user-" + cryptorand.Text() }
