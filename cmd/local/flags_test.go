package main

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
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
	for _, args := range []string{"-store sqlite", "-port 8080", "-addr 8080", "-addr=", "-addr :65536", "serve"} {
		if got, err := parseFlags(strings.Fields(args), noEnv, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %+v, %v, want a usage error", args, got, err)
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
	for _, name := range append([]string{"-expose-issuer"}, config.Variables...) {
		if !strings.Contains(stderr.String(), " "+name) {
			t.Errorf("%s is missing in:\n%s", name, &stderr)
		}
	}
}

// If the operating system refuses an address, the message tells the user what to do.
func TestListenError(t *testing.T) {
	for _, test := range []struct {
		addr  string
		cause error
		want  string
	}{
		{"10.9.9.9:8081", syscall.EADDRNOTAVAIL, "-addr 10.9.9.9:8081: 10.9.9.9 is not an address of this machine; use 127.0.0.1:8081"},
		{"127.0.0.1:http", syscall.EACCES, "-addr 127.0.0.1:http: ports below 1024 need more rights; use 127.0.0.1:8081"},
		{":8080", syscall.EACCES, "-addr :8080: bind: permission denied: use a free HOST:PORT"},
		{":8080", syscall.EADDRINUSE, "-addr :8080: bind: address already in use: use a free HOST:PORT"},
	} {
		if err := listenError(test.addr, os.NewSyscallError("bind", test.cause)); !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %s", test.cause, err, test.want)
		}
	}
}

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.27.4", Main: debug.Module{Path: "m", Version: "v1.2.3+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "152b08a"}, {Key: "vcs.modified", Value: "true"}}}
	if got, want := version(info), "m v1.2.3+dirty, commit 152b08a with changes, go1.27.4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var stdout strings.Builder
	if err := run(t.Context(), []string{"-version"}, noEnv, &stdout, io.Discard); !errors.Is(err, errPrinted) || !strings.HasSuffix(stdout.String(), runtime.Version()+"\n") {
		t.Errorf("-version prints %q, %v", &stdout, err)
	}
}

// The start-up messages are for the operating system's usual shell. README's session, which
// test/docs types, has the command for Unix.
func TestBanner(t *testing.T) {
	for goos, command := range map[string]string{
		"windows": `$token = (Invoke-RestMethod http://x/oauth2/token -Method Post -Body @{ grant_type = "client_credentials"; client_id = "alice" }).access_token`,
		"linux":   `TOKEN=$(curl -sS -d grant_type=client_credentials -d client_id=alice http://x/oauth2/token | cut -d'"' -f4)`,
	} {
		var out strings.Builder
		banner(&out, "http://x", "y", true, goos)
		want := "listening on http://x\nplants are kept in y\ntry it in a browser: http://x/\n" +
			"get a token, here for alice, valid for 60 minutes:\n  " + command + "\n"
		if got := out.String(); got != want {
			t.Errorf("on %s it prints\n%s\nwant\n%s", goos, got, want)
		}
	}
}
