package main

import (
	"fmt"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/internal/testing/lambdalocal"
)

// If neither DynamoDB nor the issuer can be reached, the init logs one warning for each,
// and requests still get responses.
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
	for _, message := range []string{"DynamoDB can't be used yet", "token keys not fetched"} {
		harness.Await(t, func() error { // before the first invocation
			if log := e.Stdout.String(); strings.Count(log, `"level":"WARN","msg":"`+message+`"`) != 1 {
				return fmt.Errorf("want one warning %q by the init:\n%s", message, log)
			}
			return nil
		})
	}
	got, err := e.Invoke(t.Context(),
		[]byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":401,`) {
		t.Errorf("%v\n%s", err, got)
	}
}
