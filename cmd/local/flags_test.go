package main

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
)

// noEnv is an empty environment.
func noEnv(string) string { return "" }

func TestParseFlags(t *testing.T) {
	for args, want := range map[string]options{
		"": {addr: "127.0.0.1:8080", data: ".data", store: "bolt"},
		"-store bolt -data d -addr :0 -expose-issuer": {addr: ":0", data: "d", store: "bolt", exposeIssuer: true},
	} {
		if got, err := parseFlags(strings.Fields(args), noEnv, io.Discard); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", args, got, err, want)
		}
	}
	for args, want := range map[string]string{
		"-store sqlite": "-store \"sqlite\": must be bolt or dynamodb", "-port 8080": "-port", "serve": "serve",
		"-addr 8080": "-addr \"8080\": must be HOST:PORT, such as 127.0.0.1:8080", "-addr=": "must be HOST:PORT",
	} {
		got, err := parseFlags(strings.Fields(args), noEnv, io.Discard)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want a usage error with %s", args, got, err, want)
		}
	}
}

// -help lists the flags and the variables. Only main prints errors.
func TestHelp(t *testing.T) {
	var stderr strings.Builder
	if _, err := parseFlags([]string{"-port", "8080"}, noEnv, &stderr); errors.Is(err, errPrinted) || stderr.Len() > 0 {
		t.Errorf("an error: %v, printed %q", err, &stderr)
	}
	if _, err := parseFlags([]string{"-help"}, noEnv, &stderr); !errors.Is(err, errPrinted) {
		t.Errorf("-help: %v", err)
	}
	for _, name := range append([]string{"-expose-issuer", envCORSOrigins}, config.Variables...) {
		if !strings.Contains(stderr.String(), " "+name) {
			t.Errorf("%s is missing in:\n%s", name, &stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	var stdout strings.Builder
	err := run(t.Context(), []string{"-version"}, noEnv, &stdout, io.Discard)
	if !errors.Is(err, errPrinted) || !strings.HasSuffix(stdout.String(), " "+runtime.Version()+"\n") {
		t.Errorf("-version prints %q, %v", &stdout, err)
	}
}
