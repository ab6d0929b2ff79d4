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

// sound returns an environment with which the program starts. It reaches
// nothing, but that is no matter of settings.
func sound(t *testing.T) []string {
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

// A setting that is missing or makes no sense fails the init, with one line that
// names it and no word of the settings' values that might be secret.
func TestSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ env, words string }{
		"no issuer":               {"TOKEN_ISSUER= TOKEN_AUDIENCE= TOKEN_JWKS=", "TOKEN_ISSUER"},
		"nothing but an audience": {"TOKEN_ISSUER= TOKEN_JWKS=", "TOKEN_AUDIENCE TOKEN_ISSUER"},
		"no audience":             {"TOKEN_AUDIENCE=", "TOKEN_AUDIENCE"},
		"commas for an audience":  {"TOKEN_AUDIENCE=,,", "TOKEN_AUDIENCE"},
		"issuer that is no URL":   {"TOKEN_ISSUER=nonsense TOKEN_JWKS=", "TOKEN_ISSUER"},
		"keys without encryption": {"TOKEN_JWKS_URL=http://issuer.example/keys TOKEN_JWKS=", "TOKEN_JWKS_URL https"},
		"broken keys":             {"TOKEN_JWKS={", "TOKEN_JWKS"},
		"no keys":                 {`TOKEN_JWKS={"keys":[]}`, "TOKEN_JWKS"},
		"scopes":                  {"REQUIRE_SCOPES=maybe", "REQUIRE_SCOPES maybe"},
		"log level":               {"LOG_LEVEL=loud", "LOG_LEVEL loud"},
		"table":                   {"TABLE_NAME=no!name", "TABLE_NAME no!name"},
		"endpoint":                {"AWS_ENDPOINT_URL_DYNAMODB=nonsense", "AWS_ENDPOINT_URL_DYNAMODB nonsense"},
		"no region":               {"AWS_ENDPOINT_URL_DYNAMODB= AWS_REGION= AWS_DEFAULT_REGION=", "AWS_REGION"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, append(sound(t), strings.Fields(test.env)...))
			if err := e.WaitReady(t.Context()); err == nil {
				t.Fatal("the init did not fail")
			}
			line := e.Stderr()
			if code := e.State().ExitCode(); code != 1 || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
				t.Errorf("exit code %d and not one line:\n%s", code, line)
			}
			for _, word := range strings.Fields(test.words) {
				if !strings.Contains(line, word) {
					t.Errorf("the line does not name %s: %s", word, line)
				}
			}
			if log := e.Stdout(); log != "" {
				t.Errorf("the log has\n%s", log)
			}
		})
	}
}

// Settings that are sound are enough, and empty ones count as unset.
func TestSoundSettings(t *testing.T) {
	t.Parallel()
	for _, extra := range []string{
		"",
		"TOKEN_JWKS_URL= REQUIRE_SCOPES= LOG_LEVEL= TABLE_NAME=",
		"REQUIRE_SCOPES=true LOG_LEVEL=error TOKEN_AUDIENCE=a,b",
		"TOKEN_JWKS= TOKEN_JWKS_URL=http://127.0.0.1:1/keys", // nobody there: told with each request
	} {
		e := start(t, append(sound(t), strings.Fields(extra)...))
		err := e.WaitReady(t.Context())
		e.Close()
		if err != nil || e.Stderr() != "" {
			t.Errorf("with %q: %v\n%s", extra, err, e.Stderr())
		}
	}
}

// What init could not reach is told once, and is no reason not to answer.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	e := start(t, slices.Concat(sound(t), []string{"LOG_LEVEL=warn"}))
	got, err := e.Invoke(t.Context(), []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":401,`) {
		t.Errorf("%v\n%s", err, got)
	}
	e.Close() // or else the line may still be on its way
	if log := e.Stdout(); strings.Count(log, "\n") != 1 || !strings.Contains(log, `"level":"WARN","msg":"no connection to DynamoDB"`) {
		t.Errorf("the log has\n%s", log)
	}
}
