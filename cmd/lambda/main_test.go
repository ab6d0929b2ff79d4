package main

import (
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

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
	bootstrap, err := lambdalocal.Build("cmd/lambda")
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
	for name, test := range map[string]struct{ env, words string }{
		"no issuer": {"TOKEN_ISSUER= TOKEN_AUDIENCE= TOKEN_JWKS=", "TOKEN_ISSUER"},
		"log level": {"LOG_LEVEL=loud", "LOG_LEVEL loud"},
		"endpoint":  {"AWS_ENDPOINT_URL_DYNAMODB=nonsense", "AWS_ENDPOINT_URL_DYNAMODB"},
		"attempts":  {"AWS_MAX_ATTEMPTS=many", "AWS_MAX_ATTEMPTS many"},
		"no region": {"AWS_ENDPOINT_URL_DYNAMODB= AWS_REGION= AWS_DEFAULT_REGION=", "AWS_REGION"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, append(validEnv(t), strings.Fields(test.env)...))
			err := e.WaitReady(t.Context())
			if err == nil {
				t.Fatal("the init succeeded")
			}
			line := e.Stderr()
			if !strings.HasSuffix(err.Error(), "exit status 1") || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
				t.Errorf("%v, want exit status 1 and one line:\n%s", err, line)
			}
			for _, word := range strings.Fields(test.words) {
				if !strings.Contains(line, word) {
					t.Errorf("the line does not mention %s: %s", word, line)
				}
			}
			if log := e.Stdout(); log != "" {
				t.Errorf("unexpected log:\n%s", log)
			}
		})
	}
}

// If DynamoDB is unreachable, the init logs it once, and requests are answered.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	e := start(t, slices.Concat(validEnv(t), []string{"LOG_LEVEL=warn"}))
	got, err := e.Invoke(t.Context(), []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":401,`) {
		t.Errorf("%v\n%s", err, got)
	}
	e.Close() // which completes the log
	if log := e.Stdout(); strings.Count(log, "\n") != 1 || !strings.Contains(log, `"level":"WARN","msg":"no connection to DynamoDB"`) {
		t.Errorf("unexpected log:\n%s", log)
	}
}
