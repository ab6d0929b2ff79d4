package main

import (
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/internal/testing/lambdalocal"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A missing or invalid setting fails the init with one line that names the setting,
// whichever part of the program detects it.
func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	bootstrap, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ env, word string }{
		{"", "TOKEN_ISSUER"},
		{"LOG_LEVEL=loud", "LOG_LEVEL"},
		{"TOKEN_ISSUER=https://issuer.example TOKEN_AUDIENCE=plants TOKEN_JWKS_URL=http://127.0.0.1:1 AWS_MAX_ATTEMPTS=many",
			"AWS_MAX_ATTEMPTS"},
	} {
		e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: strings.Fields(test.env)})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		err = e.WaitReady(t.Context())
		line := e.Stderr.String()
		if err == nil || !strings.HasSuffix(err.Error(), "exit status 1") ||
			strings.Count(line, "\n") != 1 || !strings.Contains(line, test.word) {
			t.Errorf("%v, want exit status 1 and one line with %s:\n%s", err, test.word, line)
		}
	}
}
