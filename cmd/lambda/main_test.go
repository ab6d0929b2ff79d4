package main

import (
	"regexp"
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
	bootstrap, err := tools.Build("cmd/lambda")
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

// If DynamoDB is unreachable, the init logs it once, requests are answered, and a
// check says so.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	e := start(t, slices.Concat(validEnv(t), []string{"LOG_LEVEL=warn", "REQUIRE_SCOPES=false"}))
	got, err := e.Invoke(t.Context(), []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":401,`) {
		t.Errorf("%v\n%s", err, got)
	}
	report, err := e.Invoke(t.Context(), []byte(`{"check": true}`))
	const failed = `"storage unreachable: .*"`
	if want := `^{"ok":false,"parts":{("\w+Table":` + failed + `,)+"http":"ok","keys":"ok"}}$`; err != nil || !regexp.MustCompile(want).Match(report) {
		t.Errorf("the check got %s, %v", report, err)
	}
	e.Close() // which completes the log
	log := e.Stdout.String()
	if !strings.Contains(log, `"level":"WARN","msg":"no connection to DynamoDB"`) || !regexp.MustCompile(`"msg":"check".*"request_id":"`).MatchString(log) ||
		strings.Count(log, `"level":"WARN"`) != strings.Count(log, `"AWS SDK"`)+1 {
		t.Errorf("unexpected log:\n%s", log)
	}
}
