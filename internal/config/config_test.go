package config

import (
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// env returns a getenv for the variables in base, overridden by those in more.
func env(base, more map[string]string) func(string) string {
	all := make(map[string]string)
	maps.Copy(all, base)
	maps.Copy(all, more)
	return func(name string) string { return all[name] }
}

// The tests of the template use Names in place of what the programs really read.
func TestNames(t *testing.T) {
	read := []string{NewVersion} // by cmd/hook
	_, err := FromEnv(func(name string) string {
		if !slices.Contains(read, name) {
			read = append(read, name)
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(read)
	if got := slices.Sorted(slices.Values(Names())); !slices.Equal(got, read) {
		t.Errorf("Names returns %q, but the programs read %q: change Names in internal/config/config.go", got, read)
	}
}

func TestFromEnv(t *testing.T) {
	all := map[string]string{
		TableName:     "garden",
		TokenIssuer:   "https://issuer.example",
		TokenAudience: "plants, web ,",
		TokenJWKSURL:  "https://keys.example/jwks",
		TokenJWKS:     `{"keys": []}`,
		RequireScopes: "true",
		LogLevel:      "Warn",
		CORSOrigins:   " http://localhost:3000, https://a.example ,",
	}
	for _, test := range []struct {
		settings map[string]string
		want     Config
	}{
		{nil, Config{Table: "plants"}},
		{map[string]string{RequireScopes: "false", CORSOrigins: "*"},
			Config{Table: "plants", Tokens: Tokens{RequireScopes: new(false)}, CORSOrigins: []string{"*"}}},
		{map[string]string{TableName: "A-z"}, Config{Table: "A-z"}},
		{map[string]string{TableName: strings.Repeat("9_.", 85)}, Config{Table: strings.Repeat("9_.", 85)}},
		{all, Config{
			Table: "garden",
			Tokens: Tokens{
				Issuer:        "https://issuer.example",
				Audiences:     []string{"plants", "web"},
				JWKS:          `{"keys": []}`,
				JWKSURL:       "https://keys.example/jwks",
				RequireScopes: new(true),
			},
			LogLevel:    slog.LevelWarn,
			CORSOrigins: []string{"http://localhost:3000", "https://a.example"},
		}},
	} {
		if got, err := FromEnv(env(test.settings, nil)); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: got %+v, %v, want %+v", test.settings, got, err, test.want)
		}
	}
}

// The error for an invalid value is one line that names the variable.
func TestInvalid(t *testing.T) {
	issuer := map[string]string{TokenIssuer: "https://issuer.example", TokenAudience: "plants"}
	for _, test := range []struct {
		name, value string
		others      map[string]string
	}{
		{TableName, "no!name", nil},
		{TableName, "ab", nil},
		{TableName, strings.Repeat("x", 256), nil},
		{RequireScopes, "1", nil},
		{LogLevel, "info+900", nil},
		{TokenIssuer, "", issuer},
		{TokenAudience, " , ", issuer},
		{TokenAudience, "plants", nil},
		{TokenJWKSURL, "https://keys.example/k", nil},
		{TokenJWKS, `{"keys": []}`, nil},
		{CORSOrigins, "localhost:3000", nil},
		{CORSOrigins, "http://a.example, https://b.example/", nil},
		{CORSOrigins, "https://*.example", nil},
		{CORSOrigins, "http://", nil},
		{CORSOrigins, "null", nil},
		{CORSOrigins, "https://a.example https://b.example", nil},
	} {
		_, err := FromEnv(env(test.others, map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s, others %v: error %v, want one line with the name", test.name, test.value, test.others, err)
		}
	}
}
