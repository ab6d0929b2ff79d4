// Package program builds and runs the plain server, cmd/local, for tests that
// use it as people do: as a process, over HTTP.
package program

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/plantstore/test/tools"
)

// A Program is a process of cmd/local.
type Program struct {
	Base           string // its base address, once it listens
	Data           string // its data directory
	Cmd            *exec.Cmd
	Stdout, Stderr tools.Buffer

	exited chan struct{} // closed when the process has ended
}

// Environ returns the environment of the tests without the settings of the
// program, and with extra.
func Environ(extra ...string) []string {
	setting := regexp.MustCompile(`^(AWS_|TOKEN_|TABLE_NAME=|REQUIRE_SCOPES=|LOG_LEVEL=)`)
	return append(slices.DeleteFunc(os.Environ(), setting.MatchString), extra...)
}

// Command returns the program, not yet started, with its data in dir. It will
// listen on a free port of the loopback interface unless args say otherwise.
func Command(t testing.TB, env []string, dir string, args ...string) *Program {
	t.Helper()
	binary, err := tools.Build("cmd/local")
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-addr", "127.0.0.1:0", "-data", dir}, args...)
	p := &Program{Data: dir, Cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.Cmd.Env, p.Cmd.Stdout, p.Cmd.Stderr = env, &p.Stdout, &p.Stderr
	return p
}

// Start starts the program and returns once it listens. See [Command].
func Start(t testing.TB, env []string, dir string, args ...string) *Program {
	t.Helper()
	p := Command(t, env, dir, args...)
	p.Begin(t)
	p.AwaitListening(t)
	return p
}

// Begin starts the process. It is killed when the test ends.
func (p *Program) Begin(t testing.TB) {
	t.Helper()
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.Cmd.Wait() // ProcessState has the outcome
		close(p.exited)
	}()
	t.Cleanup(p.Kill)
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)

// AwaitListening waits until the program says that it listens, and sets Base.
func (p *Program) AwaitListening(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.Base == ""; time.Sleep(5 * time.Millisecond) {
		if m := listening.FindStringSubmatch(p.Stderr.String()); m != nil {
			p.Base = m[1]
		} else if p.HasExited() || time.Now().After(deadline) {
			t.Fatalf("the program does not listen:\n%s", p.Stderr.String())
		}
	}
}

// Token returns an access token that the program's own issuer gives for form,
// to which the grant type is added.
func (p *Program) Token(t testing.TB, form url.Values) string {
	t.Helper()
	form.Set("grant_type", "client_credentials")
	resp, err := http.PostForm(p.Base+"/oauth2/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var grant struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := json.UnmarshalRead(resp.Body, &grant); err != nil || grant.AccessToken == "" || grant.TokenType != "Bearer" || grant.ExpiresIn <= 0 {
		t.Fatalf("no token for %v: %s, %v", form, resp.Status, err)
	}
	return grant.AccessToken
}

// Stop asks the program to end, as kill(1) does, and waits until it has.
func (p *Program) Stop(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		p.Kill() // Windows has no signals
		return
	}
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.Wait(t, 20*time.Second); code != 0 {
		t.Errorf("the program ended with exit code %d:\n%s", code, p.Stderr.String())
	}
}

// Kill ends the program at once.
func (p *Program) Kill() {
	p.Cmd.Process.Kill() // an error means that it has ended
	<-p.exited
}

// HasExited reports whether the process has ended.
func (p *Program) HasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Wait waits until the program ends by itself, and returns its exit code.
func (p *Program) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(limit):
		t.Fatalf("the program still runs after %v:\n%s", limit, p.Stderr.String())
	}
	return p.Cmd.ProcessState.ExitCode()
}
