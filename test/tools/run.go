package tools

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var started = time.Now()

// Patience returns how long to wait for something that takes longer on a slower
// machine: two thirds of the time that the limit of all tests, go test -timeout,
// leaves. Then the waiting test can report what is missing, and others can run.
func Patience() time.Duration {
	if f := flag.Lookup("test.timeout"); f != nil {
		if limit := f.Value.(flag.Getter).Get().(time.Duration); limit > 0 {
			return max(time.Until(started.Add(limit))*2/3, time.Second)
		}
	}
	return 24 * time.Hour
}

// Await calls done until it returns nil. It fails the test with the error of done
// if that hasn't changed for five minutes, or after [Patience].
func Await(tb testing.TB, done func() error) {
	tb.Helper()
	var last string
	var limit time.Time
	for end := time.Now().Add(Patience()); ; time.Sleep(5 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		now := time.Now()
		if text := err.Error(); text != last {
			last, limit = text, now.Add(5*time.Minute)
		}
		if now.After(limit) || now.After(end) {
			tb.Fatal(err)
		}
	}
}

// Run runs a command and returns its standard output. It kills the command after
// [Patience]. An error includes the output.
func Run(name string, args ...string) (string, error) {
	patience := Patience()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Minute // in case a child process keeps the pipes open
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s is not installed", name)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("not finished after %v; go test -timeout allows more", patience.Round(time.Second))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
