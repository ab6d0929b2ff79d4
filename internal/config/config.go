// Package config reads the service's settings from environment variables. An
// empty variable counts as unset.
package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/logging"
)

// The names of the environment variables. The endpoint, region and credentials
// of DynamoDB are set by the AWS SDK's own variables.
const (
	TableName     = "TABLE_NAME"
	TokenIssuer   = "TOKEN_ISSUER"
	TokenAudience = "TOKEN_AUDIENCE"
	TokenJWKSURL  = "TOKEN_JWKS_URL"
	TokenJWKS     = "TOKEN_JWKS"
	RequireScopes = "REQUIRE_SCOPES"
	LogLevel      = "LOG_LEVEL"

	CORSOrigins = "CORS_ORIGINS" // cmd/local reads it; a deployment has the parameter CorsOrigins
)

// Names returns the names of all variables that [FromEnv] reads.
func Names() []string {
	return []string{TableName, TokenIssuer, TokenAudience, TokenJWKSURL, TokenJWKS, RequireScopes, LogLevel}
}

// Config holds the settings of the service.
type Config struct {
	// Table is the name of the DynamoDB table. The default is plants.
	Table string

	// Tokens says which tokens are accepted. Without an issuer, only
	// RequireScopes is set.
	Tokens auth.Config

	// LogLevel is the minimum level of log lines. The default is info.
	LogLevel slog.Level
}

// isTableName reports whether s is a valid name of a DynamoDB table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func isTableName(s string) bool {
	const valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return 3 <= len(s) && len(s) <= 255 && strings.Trim(s, valid) == ""
}

// FromEnv reads the settings with getenv, usually [os.Getenv]. An error names
// the variable to change.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Table: cmp.Or(getenv(TableName), "plants")}
	if !isTableName(c.Table) {
		return Config{}, fmt.Errorf("%s: %q is not a valid table name: use 3 to 255 letters, digits, dots, dashes and underscores", TableName, c.Table)
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

// tokensFromEnv rejects incomplete settings, so that the service does not start
// with an issuer other than the intended one.
func tokensFromEnv(getenv func(string) string) (c auth.Config, err error) {
	switch v := getenv(RequireScopes); v {
	case "", "false":
	case "true":
		c.RequireScopes = true
	default:
		return auth.Config{}, fmt.Errorf("%s: %q is not valid: use true or false", RequireScopes, v)
	}
	c.Issuer = getenv(TokenIssuer)
	if c.Issuer == "" {
		for _, name := range []string{TokenAudience, TokenJWKSURL, TokenJWKS} {
			if getenv(name) != "" {
				return auth.Config{}, fmt.Errorf("%s is set but %s is not: set it to the issuer of the tokens", name, TokenIssuer)
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
		return auth.Config{}, fmt.Errorf("%s is not set: set it to the accepted audiences, separated by commas", TokenAudience)
	}
	c.Keys, err = keysFromEnv(getenv)
	return c, err
}

// keysFromEnv returns the keys in TokenJWKS or, without it, those at
// TokenJWKSURL or those that the issuer publishes.
func keysFromEnv(getenv func(string) string) (keys auth.KeySource, err error) {
	url, jwks := getenv(TokenJWKSURL), getenv(TokenJWKS)
	if url == "" && jwks == "" {
		if keys, err = auth.IssuerKeys(getenv(TokenIssuer), nil); err != nil {
			return nil, fmt.Errorf("%s: %w with %s", TokenIssuer, err, TokenJWKSURL)
		}
	}
	if url != "" { // an invalid URL is an error even if it is not used
		if keys, err = auth.RemoteKeys(url, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", TokenJWKSURL, err)
		}
	}
	if jwks != "" {
		if keys, err = auth.StaticKeys([]byte(jwks)); err != nil {
			return nil, fmt.Errorf("%s: %w", TokenJWKS, err)
		}
	}
	return keys, nil
}
