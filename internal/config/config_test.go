package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// issuer has the minimum settings for an issuer.
var issuer = map[string]string{
	TokenIssuer:   "https://issuer.example",
	TokenAudience: "plants",
}

// env returns a getenv for the variables in base, overridden by those in more.
func env(base, more map[string]string) func(string) string {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return func(name string) string { return all[name] }
}

// The tests of the template use Names in place of what FromEnv really reads.
func TestNames(t *testing.T) {
	read := map[string]bool{}
	getenv := env(issuer, map[string]string{TokenJWKS: string(authtest.NewIssuer(t).JWKS())})
	_, err := FromEnv(func(name string) string {
		read[name] = true
		return getenv(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(slices.Values(Names())), slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
		t.Errorf("Names returns %q, but FromEnv reads %q: change Names in internal/config/config.go", got, want)
	}
}

// The documentation has a row for each variable, with its default.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	unset, err := FromEnv(env(map[string]string{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (?:`([^`]*)`|.*) \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, row[1])
		if got, err := FromEnv(env(map[string]string{row[1]: row[2]}, nil)); err != nil || !reflect.DeepEqual(got, unset) {
			t.Errorf("docs/configuration.md: %q is not the default of %s: with it the settings are %+v, %v", row[2], row[1], got, err)
		}
	}
	slices.Sort(documented)
	if want := slices.Sorted(slices.Values(append(Names(), CORSOrigins))); !slices.Equal(documented, want) {
		t.Errorf("docs/configuration.md has rows for %q, want %q", documented, want)
	}
}

func TestFromEnv(t *testing.T) {
	got, err := FromEnv(env(issuer, map[string]string{
		TableName:     "garden",
		TokenAudience: "plants, web ,",
		TokenJWKSURL:  "https://keys.example/jwks",
		RequireScopes: "true",
		LogLevel:      "warn",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got.Tokens.Keys.(*auth.RemoteKeySet); !ok {
		t.Errorf("the keys are %T, want those at the URL", got.Tokens.Keys)
	}
	got.Tokens.Keys = nil
	want := Config{
		Table:    "garden",
		Tokens:   auth.Config{Issuer: issuer[TokenIssuer], Audiences: []string{"plants", "web"}, RequireScopes: true},
		LogLevel: slog.LevelWarn,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTableNames(t *testing.T) {
	for _, name := range []string{"A-z", strings.Repeat("9_.", 85)} {
		if c, err := FromEnv(env(map[string]string{TableName: name}, nil)); err != nil || c.Table != name {
			t.Errorf("%s: got %q, %v", name, c.Table, err)
		}
	}
}

// The issuer's tokens are accepted with every way to set its keys.
func TestKeys(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pool/.well-known/openid-configuration":
			fmt.Fprintf(w, `{"issuer":"http://%[1]s/pool","jwks_uri":"http://%[1]s/keys"}`, r.Host)
		case "/keys":
			w.Write(tokens.JWKS())
		default:
			http.NotFound(w, r)
		}
	}))
	defer keys.Close()
	for name, settings := range map[string]map[string]string{
		"by discovery":               {TokenIssuer: keys.URL + "/pool"},
		"at a URL":                   {TokenIssuer: "urn:tokens", TokenJWKSURL: keys.URL + "/keys"},
		"literal":                    {TokenIssuer: "urn:tokens", TokenJWKS: string(tokens.JWKS())},
		"literal, in place of a URL": {TokenIssuer: "urn:tokens", TokenJWKS: string(tokens.JWKS()), TokenJWKSURL: "https://keys.invalid/"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := FromEnv(env(issuer, settings))
			if err != nil {
				t.Fatal(err)
			}
			verifier, err := auth.NewVerifier(c.Tokens)
			if err != nil {
				t.Fatal(err)
			}
			token := tokens.Sign(map[string]any{"iss": c.Tokens.Issuer, "aud": "plants", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix()})
			caller, err := verifier.Authenticate(t.Context(), http.Header{"Authorization": {"Bearer " + token}})
			if err != nil || caller.Subject != "alice" {
				t.Errorf("got %+v, %v", caller, err)
			}
		})
	}
}

// The error for an invalid value is one line that names the variable.
func TestInvalid(t *testing.T) {
	jwks := string(authtest.NewIssuer(t).JWKS())
	none := map[string]string{TokenIssuer: "", TokenAudience: ""}
	for _, test := range []struct {
		name, value string
		others      map[string]string
	}{
		{TableName, "no!name", nil},
		{TableName, "ab", nil},
		{TableName, strings.Repeat("x", 256), nil},
		{RequireScopes, "1", nil},
		{LogLevel, "info+900", nil},
		{TokenIssuer, "", nil},
		{TokenIssuer, "not a URL", nil},
		{TokenAudience, " , ", nil},
		{TokenAudience, "plants", none},
		{TokenJWKSURL, "http://keys.example/k", nil},
		{TokenJWKSURL, "ftp://keys.example/k", map[string]string{TokenJWKS: jwks}},
		{TokenJWKSURL, "https://keys.example/k", none},
		{TokenJWKS, "{", nil},
		{TokenJWKS, jwks, none},
	} {
		settings := maps.Clone(issuer)
		maps.Copy(settings, test.others)
		_, err := FromEnv(env(settings, map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s, others %v: error %v, want one line with the name", test.name, test.value, test.others, err)
		}
	}
}
