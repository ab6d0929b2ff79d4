// Package program builds and runs the plain server, cmd/local, for tests that
// use it over HTTP.
package program

import (
	"fmt"
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
	Base           string // the base address, once the program listens
	Cmd            *exec.Cmd
	Stdout, Stderr tools.Buffer

	exited chan struct{} // closed when the process has exited
}

// Environ returns the environment of the tests without the program's own
// settings, plus extra.
func Environ(extra ...string) []string {
	setting := regexp.MustCompile(`^(AWS_|TOKEN_|TABLE_NAME=|REQUIRE_SCOPES=|LOG_LEVEL=|CORS_ORIGINS=)`)
	return append(slices.DeleteFunc(os.Environ(), setting.MatchString), extra...)
}

// Command returns the program with its data in dir, not yet started. It listens
// on a free port of the loopback interface unless args say otherwise.
func Command(t testing.TB, env []string, dir string, args ...string) *Program {
	t.Helper()
	binary, err := tools.Build("cmd/local")
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-addr", "127.0.0.1:0", "-data", dir}, args...)
	p := &Program{Cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	p.Cmd.Env, p.Cmd.Stdout, p.Cmd.Stderr = env, &p.Stdout, &p.Stderr
	return p
}

// Start starts the program and waits until it listens. See [Command].
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
		p.Cmd.Wait() // the outcome is in ProcessState
		close(p.exited)
	}()
	t.Cleanup(p.Kill)
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)\n`)

// AwaitListening waits until the program listens, and sets Base.
func (p *Program) AwaitListening(t testing.TB) {
	t.Helper()
	tools.Await(t, func() error {
		select {
		case <-p.exited:
			t.Fatalf("the program has exited:\n%s", p.Stderr.String())
		default:
		}
		m := listening.FindStringSubmatch(p.Stderr.String())
		if m == nil {
			return fmt.Errorf("the program does not listen:\n%s", p.Stderr.String())
		}
		p.Base = m[1]
		return nil
	})
}

// Token returns an access token from the program's own issuer. The form is that
// of the token request, without the grant type.
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

// Stop sends the program SIGTERM and waits until it exits, which must be with
// exit code 0.
func (p *Program) Stop(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		p.Kill() // Windows has no SIGTERM
		return
	}
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.Wait(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM:\n%s", code, p.Stderr.String())
	}
}

// Kill kills the process.
func (p *Program) Kill() {
	p.Cmd.Process.Kill() // fails if the process has exited
	<-p.exited
}

// Wait waits until the program exits, and returns the exit code.
func (p *Program) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(tools.Patience):
		t.Fatalf("the program has not exited:\n%s", p.Stderr.String())
	}
	return p.Cmd.ProcessState.ExitCode()
}
