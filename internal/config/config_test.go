package config

import (
	"log/slog"
	"maps"
	"reflect"
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

// tables returns the names of all tables: that of plants, and the defaults of others.
func tables(plants string) map[string]string {
	names := map[string]string{}
	for _, t := range Tables {
		names[t.Resource] = t.Default
	}
	names[PlantTable] = plants
	return names
}

func TestFromEnv(t *testing.T) {
	all := map[string]string{
		"TABLE_NAME":  "garden",
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
		{nil, Config{Tables: tables("plants")}},
		{map[string]string{RequireScopes: "false", CORSOrigins: "*"},
			Config{Tables: tables("plants"), Tokens: Tokens{RequireScopes: new(false)}, CORSOrigins: []string{"*"}}},
		{map[string]string{"TABLE_NAME": "A-z"}, Config{Tables: tables("A-z")}},
		{map[string]string{"TABLE_NAME": strings.Repeat("9_.", 85)}, Config{Tables: tables(strings.Repeat("9_.", 85))}},
		{all, Config{
			Tables: tables("garden"),
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
		{"TABLE_NAME", "no!name", nil},
		{"TABLE_NAME", "ab", nil},
		{"TABLE_NAME", strings.Repeat("x", 256), nil},
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
