package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Only the end of the context counts as a stop: after a signal, an error is still an error.
func TestReport(t *testing.T) {
	running := t.Context()
	stopped, stop := context.WithCancel(running)
	stop()
	for _, test := range []struct {
		ctx  context.Context
		err  error
		code int
		want string
	}{
		{stopped, nil, 0, "stopped\n"},
		{stopped, fmt.Errorf("list: %w", stopped.Err()), 0, "stopped\n"},
		{stopped, errors.New("no\nspace"), 1, "plantstore: no space\n"},
		{running, context.Canceled, 1, "plantstore: context canceled\n"},
		{running, fmt.Errorf("-x; %w", errUsage), 2, "plantstore: -x; see -help\n"},
		{running, errPrinted, 0, ""},
	} {
		var stderr strings.Builder
		if code := report(test.ctx, test.err, &stderr); code != test.code || stderr.String() != test.want {
			t.Errorf("%v: got %d, %q, want %d, %q", test.err, code, &stderr, test.code, test.want)
		}
	}
}

// With its own issuer, the program doesn't serve other machines.
func TestNotExposed(t *testing.T) {
	for _, test := range []struct {
		address string
		want    string // in the error
	}{
		{"127.0.0.1:8080", ""},
		{"[::1]:8080", ""},
		{"0.0.0.0:8080", "-addr 0.0.0.0:8080: other machines"},
		{"[::]:8080", "-addr [::]:8080: other machines"},
		{"192.0.2.1:8080", "-addr 192.0.2.1:8080: other machines"},
	} {
		listening, err := net.ResolveTCPAddr("tcp", test.address)
		if err != nil {
			t.Fatal(err)
		}
		err = checkNotExposed(test.address, listening)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v", test, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // or it would serve for good
	defer cancel()
	err := run(ctx, []string{"-addr", "0.0.0.0:0", "-data", t.TempDir()}, noEnv, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("run: got %v", err)
	}
}
