package main

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"strings"
	"testing"
)

// noEnv is an empty environment.
func noEnv(string) string { return "" }

func TestParseFlags(t *testing.T) {
	for _, test := range []struct {
		args string
		want options
		err  string
	}{
		{"", options{addr: "127.0.0.1:8080", data: ".data", store: "bolt"}, ""},
		{"-store bolt -data d -addr :0 -expose-issuer", options{addr: ":0", data: "d", store: "bolt", exposeIssuer: true}, ""},
		{"-store sqlite", options{}, "-store"},
		{"-data=", options{}, "-data"},
		{"-version", options{}, "-version"},
		{"serve", options{}, "serve"},
		{"-addr 8080", options{}, "-addr 8080: use HOST:PORT, such as 127.0.0.1:8080, with a port up to 65535; see -help"},
		{"-addr :65536", options{}, "-addr :65536: use HOST:PORT"},
	} {
		var stderr bytes.Buffer
		got, err := parseFlags(strings.Fields(test.args), noEnv, &stderr)
		if test.err == "" && (err != nil || got != test.want) {
			t.Errorf("%q: got %+v, %v, want %+v", test.args, got, err, test.want)
		}
		if test.err != "" && (!errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: got %v, want one line with %q", test.args, err, test.err)
		}
		if stderr.Len() > 0 {
			t.Errorf("%q: printed %q besides its error", test.args, &stderr)
		}
	}
	var help bytes.Buffer
	if _, err := parseFlags([]string{"-help"}, noEnv, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-expose-issuer") {
		t.Errorf("-help: %v, %q", err, &help)
	}
}

// Package e2e has other errors of the address.
func TestAddrError(t *testing.T) {
	const want = "-addr :80: permission denied: choose a port of 1024 or higher"
	if got := addrError(":80", &net.OpError{Op: "listen", Err: addressForbidden}); got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
