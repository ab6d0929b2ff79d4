package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// issuer is the least that a service with an issuer needs.
var issuer = map[string]string{
	TokenIssuer:   "https://issuer.example",
	TokenAudience: "plants",
}

// env returns a getenv of the variables in base and then those in more.
func env(base, more map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := more[name]; ok {
			return v
		}
		return base[name]
	}
}

// TestNames requires Names to list what FromEnv reads: the tests of the
// template compare it with the function's environment.
func TestNames(t *testing.T) {
	read := map[string]bool{}
	tokens := map[string]string{TokenJWKS: string(authtest.NewIssuer(t).JWKS())}
	_, err := FromEnv(func(name string) string {
		read[name] = true
		return env(issuer, tokens)(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(slices.Values(Names())), slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
		t.Errorf("Names returns %q, but FromEnv reads %q: change Names in config.go", got, want)
	}
}

func TestDefaults(t *testing.T) {
	got, err := FromEnv(env(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Table: "plants", LogLevel: slog.LevelInfo}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := auth.NewVerifier(got.Tokens); err == nil {
		t.Error("without any configuration, there is a verifier that lets someone in")
	}
}

func TestFromEnv(t *testing.T) {
	got, err := FromEnv(env(nil, map[string]string{
		TableName:     "garden",
		TokenIssuer:   "https://issuer.example/pool/",
		TokenAudience: "plants, web ,",
		TokenJWKSURL:  "https://keys.example/jwks",
		RequireScopes: "true",
		LogLevel:      "warn",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got.Tokens.Keys.(*auth.RemoteKeySet); !ok {
		t.Errorf("the keys are %T, want those of the address", got.Tokens.Keys)
	}
	got.Tokens.Keys = nil
	want := Config{
		Table: "garden",
		Tokens: auth.Config{
			Issuer:        "https://issuer.example/pool/",
			Audiences:     []string{"plants", "web"},
			RequireScopes: true,
		},
		LogLevel: slog.LevelWarn,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// However the keys are named, the issuer's tokens pass.
func TestKeys(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/pool/.well-known/jwks.json" {
			http.NotFound(w, r)
			return
		}
		w.Write(tokens.JWKS())
	}))
	defer keys.Close()
	for _, test := range []struct {
		name string
		env  map[string]string
	}{
		{"by the issuer", map[string]string{TokenIssuer: keys.URL + "/pool"}},
		{"by the issuer with a slash", map[string]string{TokenIssuer: keys.URL + "/pool/"}},
		{"empty is unset", map[string]string{TokenIssuer: keys.URL + "/pool", TokenJWKSURL: "", TokenJWKS: ""}},
		{"by address", map[string]string{TokenIssuer: "urn:tokens", TokenJWKSURL: keys.URL + "/pool/.well-known/jwks.json"}},
		{"as given", map[string]string{TokenIssuer: "urn:tokens", TokenJWKS: string(tokens.JWKS())}},
		{"as given, before the address", map[string]string{
			TokenIssuer: "urn:tokens", TokenJWKS: string(tokens.JWKS()), TokenJWKSURL: "https://keys.invalid/",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := FromEnv(env(issuer, test.env))
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

// A value that makes no sense is refused in one line that names its variable.
func TestNonsense(t *testing.T) {
	for _, test := range []struct{ name, value, mention string }{
		{TableName, "no!name", TableName},
		{TableName, "ab", TableName},
		{RequireScopes, "yes please", RequireScopes},
		{RequireScopes, "1", RequireScopes},
		{LogLevel, "info+900", LogLevel},
		{LogLevel, "loud", LogLevel},
		{TokenIssuer, "", TokenIssuer},
		{TokenIssuer, "not an address", TokenIssuer},
		{TokenIssuer, "http://issuer.example", TokenIssuer},
		{TokenAudience, "", TokenAudience},
		{TokenAudience, " , ", TokenAudience},
		{TokenJWKSURL, "keys.json", TokenJWKSURL},
		{TokenJWKSURL, "https://", TokenJWKSURL},
		{TokenJWKSURL, "ftp://keys.example/k", TokenJWKSURL},
		{TokenJWKSURL, "http://keys.example/k", TokenJWKSURL},
		{TokenJWKSURL, "http://10.0.0.1/k", TokenJWKSURL},
		{TokenJWKSURL, "http://localhost.example/k", TokenJWKSURL},
		{TokenJWKS, "{", TokenJWKS},
		{TokenJWKS, `{"keys":[]}`, TokenJWKS},
	} {
		t.Run(fmt.Sprintf("%s=%s", test.name, test.value), func(t *testing.T) {
			_, err := FromEnv(env(issuer, map[string]string{test.name: test.value}))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if msg := err.Error(); !strings.Contains(msg, test.mention) || strings.Contains(msg, "\n") {
				t.Errorf("the error is not one line that names %s: %q", test.mention, msg)
			}
		})
	}
}

// An address that makes no sense is refused even where it isn't needed.
func TestNonsenseBesideKeys(t *testing.T) {
	_, err := FromEnv(env(issuer, map[string]string{
		TokenJWKS: string(authtest.NewIssuer(t).JWKS()), TokenJWKSURL: "ftp://keys.example",
	}))
	if err == nil || !strings.Contains(err.Error(), TokenJWKSURL) {
		t.Errorf("got %v, want an error that names %s", err, TokenJWKSURL)
	}
}

// Whatever is said of tokens, without an issuer it is half of a configuration.
func TestTokensWithoutIssuer(t *testing.T) {
	for _, name := range []string{TokenAudience, TokenJWKSURL, TokenJWKS} {
		_, err := FromEnv(env(nil, map[string]string{name: "https://x.example"}))
		if err == nil || !strings.Contains(err.Error(), TokenIssuer) || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s alone: got %v, want an error that names it and %s", name, err, TokenIssuer)
		}
	}
}
