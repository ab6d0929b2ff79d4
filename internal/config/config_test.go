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
		TableName:     "my-table",
		TokenIssuer:   "https://issuer.example",
		TokenAudience: "plants, web ,",
		TokenJWKSURL:  "https://keys.example/jwks",
		TokenJWKS:     `{"keys":[` + key + `]}`,
		RequireScopes: "true",
		LogLevel:      "Warn",
		CORSOrigins:   " http://localhost:3000, https://A.example ,http://[::1]:8443,https://127.0.0.1",
	}
	for _, test := range []struct {
		settings map[string]string
		want     Config
	}{
		{nil, Config{TableName: "plants"}},
		{map[string]string{RequireScopes: "false", CORSOrigins: "*"},
			Config{TableName: "plants", Tokens: auth.Config{ScopesOptional: true}, CORSOrigins: []string{"*"}}},
		// If the keys are set, the issuer needn't be a URL.
		{map[string]string{TokenIssuer: "urn:x", TokenAudience: "plants", TokenJWKS: `{"keys":[` + key + `]}`},
			Config{TableName: "plants", Tokens: auth.Config{Issuer: "urn:x", Audiences: []string{"plants"}, Keys: keys}}},
		{all, Config{
			TableName: "my-table",
			Tokens: auth.Config{
				Issuer:    "https://issuer.example",
				Audiences: []string{"plants", "web"},
				Keys:      keys,
				KeysURL:   "https://keys.example/jwks",
			},
			LogLevel:    slog.LevelWarn,
			CORSOrigins: []string{"http://localhost:3000", "https://A.example", "http://[::1]:8443", "https://127.0.0.1"},
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
	issuer := map[string]string{TokenIssuer: "https://issuer.example", TokenAudience: "plants"}
	for _, test := range []struct {
		name, value string
		others      map[string]string
	}{
		{RequireScopes, "1", nil},
		{LogLevel, "loud", nil},
		{TokenIssuer, "", issuer},
		{TokenAudience, " , ", issuer},
		{TokenAudience, "plants", nil},
		{TokenJWKSURL, "https://keys.example/k", nil},
		{TokenJWKS, `{"keys": []}`, nil},
		{TokenJWKS, `{"keys": []}`, issuer},
		{TokenJWKSURL, "http://localhost.issuer.example/keys", issuer},
		{TokenJWKSURL, "http://localhost@issuer.example", issuer},
		{TokenJWKSURL, "https://issuer.example/%zz?secret", issuer},
		{TokenJWKSURL, "http://user:secret@issuer.example/keys?key=secret", issuer},
		{TokenIssuer, "https://user:secret@issuer.example", issuer},
		{TokenIssuer, "https://user:secret@issuer.example ", issuer},
		{CORSOrigins, "localhost:3000", nil},
		{CORSOrigins, "http://a.example, https://b.example/", nil},
		{CORSOrigins, "https://*.example", nil},
		{CORSOrigins, "http://", nil},
		{CORSOrigins, "null", nil},
		{CORSOrigins, "https://a.example b.example", nil},
		{CORSOrigins, "https://user:secret@a.example", nil},
		{CORSOrigins, "https://@a.example", nil},
		{CORSOrigins, "https://a.example?key=secret", nil},
		{CORSOrigins, "https://a.example?", nil},
		{CORSOrigins, "https://a.example#secret", nil},
		{CORSOrigins, "https://a.example#", nil},
		{CORSOrigins, "https://:443", nil},
		{CORSOrigins, `https://a.example\b`, nil},
		{CORSOrigins, "https://a%2eexample", nil},
		{CORSOrigins, "https://::1", nil},
		{CORSOrigins, "https://[a.example]", nil},
		{CORSOrigins, "https://[127.0.0.1]", nil},
		{CORSOrigins, "ftp://a.example", nil},
	} {
		_, err := FromEnv(env(test.others, map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.name) || strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s, others %v: error %v, want one line with the name", test.name, test.value, test.others, err)
		}
	}
}

// These messages are our own, not a library's.
func TestMessages(t *testing.T) {
	for want, settings := range map[string]map[string]string{
		`LOG_LEVEL "verbose" is not valid: use debug, info, warn or error`:                                     {LogLevel: "verbose"},
		`TOKEN_ISSUER is set but TOKEN_AUDIENCE is not: set it to the accepted audiences, separated by commas`: {TokenIssuer: "https://issuer.example"},
		`TOKEN_AUDIENCE has no value: set it to the accepted audiences, separated by commas`:                   {TokenIssuer: "https://issuer.example", TokenAudience: ","},
		`TOKEN_ISSUER "https://issuer.example " has a space: remove it`:                                        {TokenIssuer: "https://issuer.example ", TokenAudience: "plants"},
	} {
		if _, err := FromEnv(env(settings, nil)); err == nil || err.Error() != want {
			t.Errorf("%v: got %v, want %s", settings, err, want)
		}
	}
}

// Without TOKEN_JWKS_URL, the issuer must be a URL, so that its metadata can be found. Keys
// at a local address need no https.
func TestIssuers(t *testing.T) {
	from := func(issuer, keysURL string) error {
		_, err := FromEnv(env(nil, map[string]string{TokenIssuer: issuer, TokenAudience: "plants", TokenJWKSURL: keysURL}))
		return err
	}
	for issuer, fault := range map[string]string{
		"urn:plantstore:local": `"urn:plantstore:local" doesn't begin with https:// or, on this machine, http://; if`,
		"http://a.test":        `the address "http://a.test" must be https`,
		"https://a.test/?":     `an issuer has no user, query or fragment`,
		"https://a.test/#":     `an issuer has no user, query or fragment`,
		"https://a.test/.well-known/oauth-authorization-server/x": `this is the address of the metadata: use the issuer in it; if the issuer has no metadata, set TOKEN_JWKS_URL`,
	} {
		if err := from(issuer, ""); err == nil || !strings.HasPrefix(err.Error(), "TOKEN_ISSUER: "+fault) {
			t.Errorf("%s: got %v, want %s", issuer, err, fault)
		}
		for _, url := range []string{"HTTPS://issuer.test/keys", "http://LOCALHOST:8080/keys", "http://[::1]/keys", "http://host.docker.internal:8080"} {
			if err := from(issuer, url); err != nil {
				t.Errorf("%s with %s: %v", issuer, url, err)
			}
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
		c, err := FromEnv(env(map[string]string{TableName: value}, nil))
		if valid && c.TableName != value || valid != (err == nil) || err != nil && !strings.Contains(err.Error(), TableName) {
			t.Errorf("%q: %q, %v", value, c.TableName, err)
		}
	}
}

// Variables contains exactly the names of the variables that FromEnv reads.
func TestVariables(t *testing.T) {
	settings := env(map[string]string{TokenIssuer: "https://issuer.example", TokenAudience: "plants"}, nil)
	read := map[string]bool{}
	if _, err := FromEnv(func(name string) string { read[name] = true; return settings(name) }); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, slices.Sorted(slices.Values(Variables))) {
		t.Errorf("FromEnv reads %q; Variables contains %q", got, Variables)
	}
}
