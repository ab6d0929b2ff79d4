package config

import (
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
)

// env returns a getenv for the variables in base, overridden by those in more.
func env(base, more map[string]string) func(string) string {
	all := make(map[string]string)
	maps.Copy(all, base)
	maps.Copy(all, more)
	return func(name string) string { return all[name] }
}

func TestFromEnv(t *testing.T) {
	const key = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}` // RFC 8037 appendix A.2
	keys, err := auth.ParseKeySet([]byte(`{"keys":[` + key + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		EnvTableName:     "my-table",
		EnvTokenIssuer:   "https://issuer.example",
		EnvTokenAudience: "plants, web ,\n",
		EnvTokenJWKSURL:  "https://keys.example/jwks",
		EnvTokenJWKS:     `{"keys":[` + key + `]}`,
		EnvRequireScopes: "true",
		EnvLogLevel:      "Warn",
	}
	for _, test := range []struct {
		settings map[string]string
		want     Config
	}{
		{nil, Config{TableName: "plants"}},
		{map[string]string{EnvRequireScopes: "false"},
			Config{TableName: "plants", Tokens: auth.Config{ScopesOptional: true}}},
		// If the keys are set, the issuer needn't be a URL.
		{map[string]string{EnvTokenIssuer: "urn:x", EnvTokenAudience: "plants", EnvTokenJWKS: `{"keys":[` + key + `]}`},
			Config{TableName: "plants", Tokens: auth.Config{Issuer: "urn:x", Audiences: []string{"plants"}, Keys: keys}}},
		{all, Config{
			TableName: "my-table",
			Tokens: auth.Config{
				Issuer:    "https://issuer.example",
				Audiences: []string{"plants", "web"},
				Keys:      keys,
				KeysURL:   "https://keys.example/jwks",
			},
			LogLevel: slog.LevelWarn,
		}},
	} {
		got, err := FromEnv(env(test.settings, nil))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: got %+v, %v, want %+v", test.settings, got, err, test.want)
		}
	}
}

// The error for an invalid value is one line that names the variable, without passwords.
func TestInvalid(t *testing.T) {
	issuer := map[string]string{EnvTokenIssuer: "https://issuer.example", EnvTokenAudience: "plants"}
	for _, test := range []struct {
		name, value string
		others      map[string]string
	}{
		{EnvRequireScopes, "1", nil},
		{EnvLogLevel, "loud", nil},
		{EnvTokenIssuer, "", issuer},
		{EnvTokenAudience, " , ", issuer},
		{EnvTokenAudience, "plants", nil},
		{EnvTokenJWKSURL, "https://keys.example/k", nil},
		{EnvTokenJWKS, `{"keys": []}`, nil},
		{EnvTokenJWKS, `{"keys": []}`, issuer},
		{EnvTokenJWKSURL, "https://issuer.example/%zz?secret", issuer},
		{EnvTokenJWKSURL, "http://user:secret@issuer.example/keys?key=secret", issuer},
		{EnvTokenIssuer, "https://user:secret@issuer.example", issuer},
		{EnvTokenIssuer, "https://user:secret@issuer.example ", issuer},
		{EnvTokenIssuer, "https://issuer.example\n", issuer},
		{EnvTokenIssuer, "\turn:issuer",
			map[string]string{EnvTokenAudience: "plants", EnvTokenJWKSURL: "https://keys.example/k"}},
		{EnvTokenJWKSURL, "https://keys.example/k ", issuer},
		{EnvTokenAudience, `"secret"`, issuer},
		{EnvTokenIssuer, "'secret'",
			map[string]string{EnvTokenAudience: "plants", EnvTokenJWKSURL: "https://keys.example/k"}},
		{EnvTokenJWKSURL, "https://keys.example/k?secret\r\n", issuer},
	} {
		_, err := FromEnv(env(test.others, map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.name) ||
			strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s, others %v: error %v, want one line with the name", test.name, test.value, test.others, err)
		}
	}
}

// These messages are our own, not a library's.
func TestMessages(t *testing.T) {
	for want, settings := range map[string]map[string]string{
		`LOG_LEVEL "verbose" is not valid: use debug, info, warn or error`: {
			EnvLogLevel: "verbose",
		},
		`TOKEN_AUDIENCE has no value, although TOKEN_ISSUER is set: set it to the accepted audiences, separated by commas`: {
			EnvTokenIssuer: "https://issuer.example", EnvTokenAudience: ",",
		},
		`TOKEN_ISSUER "https://issuer.example\n" has white space: remove it`: {
			EnvTokenIssuer: "https://issuer.example\n", EnvTokenAudience: "plants",
		},
	} {
		if _, err := FromEnv(env(settings, nil)); err == nil || err.Error() != want {
			t.Errorf("%v: got %v, want %s", settings, err, want)
		}
	}
}

// Without TOKEN_JWKS_URL, the issuer must be a URL, so that its metadata can be found.
func TestIssuers(t *testing.T) {
	from := func(issuer, keysURL string) error {
		_, err := FromEnv(env(nil, map[string]string{
			EnvTokenIssuer: issuer, EnvTokenAudience: "plants", EnvTokenJWKSURL: keysURL,
		}))
		return err
	}
	for issuer, fault := range map[string]string{
		"urn:plantstore:local": `"urn:plantstore:local" doesn't begin with https:// or, on this machine, http://; if it has no`,
		"http://a.test":        `the address "http://a.test" must be https`,
		"https://a.test/?":     `remove its user, query or fragment, or set TOKEN_JWKS_URL`,
		"https://a.test/#":     `remove its user, query or fragment, or set TOKEN_JWKS_URL`,
		"https://a.test/.well-known/oauth-authorization-server/x": `this is the address of the metadata: use the issuer in it`,
	} {
		if err := from(issuer, ""); err == nil || !strings.HasPrefix(err.Error(), "TOKEN_ISSUER: "+fault) {
			t.Errorf("%s: got %v, want %s", issuer, err, fault)
		}
		if err := from(issuer, "https://issuer.test/keys"); err != nil {
			t.Errorf("%s with TOKEN_JWKS_URL: %v", issuer, err)
		}
	}
	for _, issuer := range []string{"https://a.test/realms/x", "http://localhost:8080/realms/x"} {
		if err := from(issuer, ""); err != nil {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

// A table's name has 3 to 255 characters.
func TestTableName(t *testing.T) {
	for value, valid := range map[string]bool{
		"A-z": true, strings.Repeat("9_.", 85): true, "no!name": false, "ab": false, strings.Repeat("x", 256): false,
	} {
		c, err := FromEnv(env(map[string]string{EnvTableName: value}, nil))
		if valid && c.TableName != value || valid != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), EnvTableName) {
			t.Errorf("%q: %q, %v", value, c.TableName, err)
		}
	}
}

// Variables contains exactly the names of the variables that FromEnv reads.
func TestVariables(t *testing.T) {
	settings := env(map[string]string{EnvTokenIssuer: "https://issuer.example", EnvTokenAudience: "plants"}, nil)
	read := map[string]bool{}
	if _, err := FromEnv(func(name string) string { read[name] = true; return settings(name) }); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, slices.Sorted(slices.Values(Variables))) {
		t.Errorf("FromEnv reads %q; Variables contains %q", got, Variables)
	}
}
