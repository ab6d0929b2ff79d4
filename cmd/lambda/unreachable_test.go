package main

import (
	"fmt"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/selftest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
)

// If neither DynamoDB nor the issuer can be reached, the init warns about each once,
// requests are answered, and a self-test names both.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	bootstrap, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	const nobody = "http://127.0.0.1:1"
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: []string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + nobody, "TOKEN_JWKS_URL=" + nobody, "LOG_LEVEL=warn", "AWS_MAX_ATTEMPTS=1",
		"TOKEN_ISSUER=" + authtest.IssuerURL, "TOKEN_AUDIENCE=" + authtest.Audience,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, message := range []string{"no connection to DynamoDB", "token keys not fetched"} {
		harness.Await(t, func() error { // before the first invocation
			if log := e.Stdout.String(); strings.Count(log, `"level":"WARN","msg":"`+message+`"`) != 1 {
				return fmt.Errorf("want one warning %q by the init:\n%s", message, log)
			}
			return nil
		})
	}
	got, err := e.Invoke(t.Context(), []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":401,`) {
		t.Errorf("%v\n%s", err, got)
	}
	got, err = e.Invoke(t.Context(), []byte(selftest.Event))
	want := []string{`{"ok":false,`, `"http":"ok"`, `"keys":"keys of the token issuer unavailable: `}
	for _, table := range config.Tables {
		want = append(want, `"`+table.Resource+`":"storage unreachable: `)
	}
	for _, part := range want {
		if err != nil || !strings.Contains(string(got), part) {
			t.Errorf("the self-test reports %s, %v, want %s", got, err, part)
		}
	}
}
