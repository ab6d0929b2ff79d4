//go:build contract

package contract

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/syncbuf"
)

// A service is a running cmd/local.
type service struct {
	base   string // its address
	output syncbuf.Buffer
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)

// start starts the service with this environment, and its data in a folder of
// its own. It is stopped in the end.
func start(t *testing.T, environ []string) *service {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "local.exe") // the ending is for Windows
	run(t, exec.CommandContext(t.Context(), "go", "build", "-o", binary, "example.com/plantstore/cmd/local"))

	s := &service{}
	cmd := exec.Command(binary, "-addr", "127.0.0.1:0", "-data", filepath.Join(dir, "data"))
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, &s.output, &s.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if strings.Contains(s.output.String(), "panic") {
			t.Errorf("the service panicked:\n%s", s.output.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); s.base == ""; time.Sleep(10 * time.Millisecond) {
		if m := listening.FindStringSubmatch(s.output.String()); m != nil {
			s.base = m[1]
		} else if time.Now().After(deadline) {
			t.Fatalf("the service does not listen:\n%s", s.output.String())
		}
	}
	return s
}

// token returns an access token of the service's own issuer.
func (s *service) token(t *testing.T, user string) string {
	t.Helper()
	resp, err := http.PostForm(s.base+"/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {user}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&grant); err != nil || grant.AccessToken == "" {
		t.Fatalf("no token: %s, %v", resp.Status, err)
	}
	return grant.AccessToken
}

// plainEnviron returns the environment of the tests without what the service
// itself would read of it.
func plainEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "TOKEN_") && !strings.HasPrefix(kv, "REQUIRE_SCOPES=") {
			env = append(env, kv)
		}
	}
	return env
}

// run runs a command to its end, and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.WaitDelay = time.Second // in case a child of its own keeps the pipes
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
