package harness

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Patience is how long to wait for what takes longer on a slower machine. Within
// the limit of go test, 10 minutes, the waiting test can report what is missing.
const Patience = 5 * time.Minute

// Await calls done until it returns nil. After [Patience] it fails the test with
// the error of done.
func Await(tb testing.TB, done func() error) {
	tb.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			tb.Fatal(err)
		}
	}
}

// Run runs a command, such as a download, and returns its standard output. An
// error includes the output.
func Run(name string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = attributes
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", cmd, err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// Send sends req, follows no redirects, and returns the response with its body.
func Send(tb testing.TB, req *http.Request) (*http.Response, string) {
	tb.Helper()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp, string(body)
}
