package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/harness"
	"example.com/plantstore/test/plainserver"
)

// refuses checks that the program does not start and prints the reason in one
// line that contains all the words. The exit code is 2 for wrong usage, else 1.
func refuses(t *testing.T, env []string, dir string, args []string, words ...string) {
	t.Helper()
	p := plainserver.Launch(t, env, dir, args...)
	code := p.Wait()
	line := p.Stderr.String()
	want := 1
	if strings.Contains(line, "see -help") {
		want = 2
	}
	if code != want || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("exit code %d, want %d after a single line:\n%s", code, want, line)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("%q is missing in: %s", word, line)
		}
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
}

// The program names an invalid setting, whichever part of it notices.
func TestInvalidSettings(t *testing.T) {
	for name, test := range map[string]struct{ env, args, words string }{
		"log level":               {env: "LOG_LEVEL=loud", words: "LOG_LEVEL loud"},
		"argument":                {args: "serve", words: "serve -help"},
		"port alone":              {args: "-addr 8080", words: "-addr 8080 port -help"},
		"address of another host": {args: "-addr 192.0.2.1:0", words: "-addr 192.0.2.1 is not an address of this machine"},
		"data in a file":          {args: "-data start_test.go/data", words: "-data: start_test.go is a file: name a directory"},
		"exposed issuer":          {args: "-addr 0.0.0.0:0", words: "-addr 0.0.0.0:0 -expose-issuer"},
		"issuer for all pages":    {env: "CORS_ORIGINS=http://a.example,*", words: "CORS_ORIGINS=* -expose-issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, harness.Environ(strings.Fields(test.env)...), filepath.Join(t.TempDir(), "data"), strings.Fields(test.args), strings.Fields(test.words)...)
		})
	}
}

// The log on standard output has a line for each request, unless LOG_LEVEL leaves it out.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	for env, lines := range map[string]int{"LOG_LEVEL=info": 1, "LOG_LEVEL=error": 0} {
		p := start(t, harness.Environ(env), t.TempDir())
		p.user(t).expectList(t, 200)
		p.Stop()
		if log := p.Stdout.String(); strings.Count(log, "\n") != lines {
			t.Errorf("%s: want %d lines of log, got\n%s", env, lines, log)
		}
	}
}

// A page whose host name resolves to this machine (DNS rebinding) gets no token,
// and without -expose-issuer neither does another machine.
func TestForeignHost(t *testing.T) {
	t.Parallel()
	hidden := start(t, harness.Environ(), t.TempDir())
	exposed := start(t, harness.Environ(), t.TempDir(), "-addr", "0.0.0.0:0", "-expose-issuer")
	for _, test := range []struct {
		p            *server
		host, status string
	}{{hidden, "localhost", "200"}, {hidden, "192.0.2.1", "403"}, {exposed, "192.0.2.1", "200"}} {
		a := test.p.rawExchange(t, "POST /oauth2/token HTTP/1.1\r\nHost: "+test.host+"\r\nConnection: close\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 45\r\n\r\ngrant_type=client_credentials&client_id=alice")
		if !strings.HasPrefix(a, "HTTP/1.1 "+test.status+" ") || strings.Contains(a, "access_token") != (test.status == "200") {
			t.Errorf("%+v: got\n%s", test, a)
		}
	}
}

// An error of several lines is printed in one.
func TestErrorOfSeveralLines(t *testing.T) {
	t.Parallel()
	refuses(t, harness.Environ(), t.TempDir(), []string{"-addr", "127.0.0.1:80\n80"}, "-addr", "80 80: unknown port")
}
