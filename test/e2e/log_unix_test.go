//go:build unix

package e2e

import (
	"bufio"
	"net/url"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// The program outlives the readers of its log and of its messages. It goes on serving, and
// stops as usual.
func TestLogReaderGone(t *testing.T) {
	t.Parallel()
	binary, err := harness.Build("cmd/local")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-addr", "127.0.0.1:0", "-data", t.TempDir())
	cmd.Env = harness.Environ()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	listening := regexp.MustCompile(`^listening on (http://\S+)\n`).FindStringSubmatch(line)
	if listening == nil {
		t.Fatalf("got %q", line)
	}
	stdout.Close()
	stderr.Close()
	token, err := plainserver.RequestToken(listening[1]+"/oauth2/token", url.Values{"client_id": {"alice"}})
	if err != nil {
		t.Fatal(err)
	}
	alice := newClient(t, listening[1], token)
	alice.Create(plantstest.Example(7))
	alice.Owns(plantstest.Example(7))
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil { // it prints more while it stops
		t.Error(err)
	}
}
