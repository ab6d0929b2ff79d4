package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is how long to wait for what takes longer on a slower machine. What legitimately
// takes longer has its own limit, where it starts.
const Patience = 30 * time.Second

// failed is set when a wait has failed.
var failed atomic.Bool

// limited returns the limit of a wait. After one has failed, later ones have a tenth of it:
// they probably wait for the same thing, and the suite is to report a fault within a minute.
func limited(limit time.Duration) time.Duration {
	if failed.Load() {
		return limit / 10
	}
	return limit
}

// Await calls done until it returns nil. After [Patience] it fails the test with
// the error of done.
func Await(tb testing.TB, done func() error) {
	tb.Helper()
	AwaitFor(tb, Patience, done)
}

// AwaitFor is like [Await] with another limit.
func AwaitFor(tb testing.TB, limit time.Duration, done func() error) {
	tb.Helper()
	limit = limited(limit)
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			failed.Store(true)
			tb.Fatalf("after %v: %v", limit, err)
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

var transport = &http.Transport{MaxIdleConnsPerHost: 64, Proxy: http.ProxyFromEnvironment}

// RoundTrip sends req, follows no redirects, and returns the response with its body. It waits for
// [Patience] at most.
func RoundTrip(req *http.Request) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(req.Context(), Patience)
	defer cancel()
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// Send is like [RoundTrip], and fails the test without a response.
func Send(tb testing.TB, req *http.Request) (*http.Response, string) {
	tb.Helper()
	resp, body, err := RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	return resp, body
}
