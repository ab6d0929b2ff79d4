package main

import (
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
)

func TestMain(m *testing.M) { harness.Main(m) }

// validEnv returns valid settings, with nobody at the endpoint of DynamoDB.
func validEnv(t *testing.T) []string {
	t.Helper()
	return []string{
		"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1",
		"TABLE_NAME=plants",
		"TOKEN_ISSUER=" + authtest.IssuerURL,
		"TOKEN_AUDIENCE=" + authtest.Audience,
		"TOKEN_JWKS=" + string(authtest.NewIssuer(t).JWKS()),
	}
}

func start(t *testing.T, env []string) *lambdalocal.Environment {
	t.Helper()
	bootstrap, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// A missing or invalid setting fails the init with one line that names it,
// whichever part of the program notices.
func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, word string }{
		{"TOKEN_ISSUER= TOKEN_AUDIENCE= TOKEN_JWKS=", "TOKEN_ISSUER"},
		{"LOG_LEVEL=loud", "LOG_LEVEL"},
		{"AWS_MAX_ATTEMPTS=many", "AWS_MAX_ATTEMPTS"},
	} {
		e := start(t, append(validEnv(t), strings.Fields(test.env)...))
		err := e.WaitReady(t.Context())
		if line := e.Stderr.String(); err == nil || !strings.HasSuffix(err.Error(), "exit status 1") || strings.Count(line, "\n") != 1 || !strings.Contains(line, test.word) {
			t.Errorf("%v, want exit status 1 and one line with %s:\n%s", err, test.word, line)
		}
	}
}
