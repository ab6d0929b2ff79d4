// Package config reads the environment of the service, which is all the
// configuration that it has in production. Empty means unset, everywhere.
package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/logging"
)

// The names of the variables. DynamoDB's endpoint, region and credentials are
// the SDK's own variables.
const (
	TableName     = "TABLE_NAME"
	TokenIssuer   = "TOKEN_ISSUER"
	TokenAudience = "TOKEN_AUDIENCE"
	TokenJWKSURL  = "TOKEN_JWKS_URL"
	TokenJWKS     = "TOKEN_JWKS"
	RequireScopes = "REQUIRE_SCOPES"
	LogLevel      = "LOG_LEVEL"
)

// Names returns the names of all variables that [FromEnv] reads.
func Names() []string {
	return []string{TableName, TokenIssuer, TokenAudience, TokenJWKSURL, TokenJWKS, RequireScopes, LogLevel}
}

// Config is what the environment says.
type Config struct {
	// Table is the DynamoDB table. Default: plants.
	Table string

	// Tokens says whose tokens are accepted. If no issuer is named, nothing
	// but RequireScopes is set.
	Tokens auth.Config

	// LogLevel is the least level to log. Default: info.
	LogLevel slog.Level
}

// isTableName reports whether DynamoDB takes s as the name of a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func isTableName(s string) bool {
	return 3 <= len(s) && len(s) <= 255 && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_.-", c))
	})
}

// FromEnv reads the configuration by means of getenv, which is os.Getenv but
// in tests. An error names the variable that makes no sense.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Table: cmp.Or(getenv(TableName), "plants")}
	if !isTableName(c.Table) {
		return Config{}, fmt.Errorf("%s: %q is no name of a table: it has 3 to 255 letters, digits, dots, dashes and underscores", TableName, c.Table)
	}
	var err error
	if c.LogLevel, err = logging.ParseLevel(getenv(LogLevel)); err != nil {
		return Config{}, fmt.Errorf("%s: %w", LogLevel, err)
	}
	if c.Tokens, err = tokensFromEnv(getenv); err != nil {
		return Config{}, err
	}
	return c, nil
}

// tokensFromEnv refuses what is said by halves: a service that trusts no
// issuer, or another than was meant, should not start.
func tokensFromEnv(getenv func(string) string) (c auth.Config, err error) {
	switch v := getenv(RequireScopes); v {
	case "", "false":
	case "true":
		c.RequireScopes = true
	default:
		return auth.Config{}, fmt.Errorf("%s: %q is neither true nor false", RequireScopes, v)
	}
	c.Issuer = getenv(TokenIssuer)
	if c.Issuer == "" {
		for _, name := range []string{TokenAudience, TokenJWKSURL, TokenJWKS} {
			if getenv(name) != "" {
				return auth.Config{}, fmt.Errorf("%s is set but %s is not: name the issuer of the tokens", name, TokenIssuer)
			}
		}
		return c, nil
	}
	for audience := range strings.SplitSeq(getenv(TokenAudience), ",") {
		if audience = strings.TrimSpace(audience); audience != "" {
			c.Audiences = append(c.Audiences, audience)
		}
	}
	if c.Audiences == nil {
		return auth.Config{}, fmt.Errorf("%s is not set: name the audiences that tokens of %s are for, separated by commas", TokenAudience, c.Issuer)
	}
	c.Keys, err = keysFromEnv(getenv)
	return c, err
}

// keysFromEnv returns the issuer's keys: those given or, without any, those
// at the given address or at the one where issuers have them by custom.
func keysFromEnv(getenv func(string) string) (auth.KeySource, error) {
	name, url, jwks := TokenJWKSURL, getenv(TokenJWKSURL), getenv(TokenJWKS)
	if url == "" && jwks == "" {
		name, url = TokenIssuer, strings.TrimSuffix(getenv(TokenIssuer), "/")+"/.well-known/jwks.json"
	}
	var keys auth.KeySource
	var err error
	if url != "" {
		if keys, err = auth.RemoteKeys(url, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if jwks != "" {
		if keys, err = auth.StaticKeys([]byte(jwks)); err != nil {
			return nil, fmt.Errorf("%s: %w", TokenJWKS, err)
		}
	}
	return keys, nil
}
