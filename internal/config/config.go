// Package config reads the service's settings from environment variables. An
// empty variable counts as unset.
package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
)

// The names of the environment variables. The endpoint, region and credentials
// of DynamoDB are set by the AWS SDK's own variables.
const (
	TokenIssuer   = "TOKEN_ISSUER"
	TokenAudience = "TOKEN_AUDIENCE"
	TokenJWKSURL  = "TOKEN_JWKS_URL"
	TokenJWKS     = "TOKEN_JWKS"
	RequireScopes = "REQUIRE_SCOPES"
	LogLevel      = "LOG_LEVEL"
	CORSOrigins   = "CORS_ORIGINS" // cmd/local only: a deployment has the parameter CorsOrigins
	NewVersion    = "NEW_VERSION"  // cmd/hook only: the ARN of the version to try
)

// Tables are the DynamoDB tables, one for each resource. DynamoDB Local, the checks
// and the tests of template.yaml go over them.
var Tables = []Table{
	{Resource: PlantTable, Variable: "TABLE_NAME", Default: "plants"},
}

// PlantTable is the table of plants.
const PlantTable = "PlantTable"

// A Table is a DynamoDB table.
type Table struct {
	Resource string // its logical id in template.yaml
	Variable string // the environment variable with its name
	Default  string // its name if the variable is unset
}

// Config holds the settings of the service.
type Config struct {
	// Tables has the name of each of [Tables], by its Resource.
	Tables map[string]string

	// Tokens says which tokens are accepted. Without an issuer, only
	// RequireScopes may be set.
	Tokens Tokens

	// LogLevel is the minimum level of log lines. The default is info.
	LogLevel slog.Level

	// CORSOrigins are the origins whose pages may use the service, or "*" for
	// all. It is empty by default.
	CORSOrigins []string
}

// Tokens are the settings of package auth.
type Tokens struct {
	Issuer        string   // the iss claim of the tokens
	Audiences     []string // at least one, if there is an issuer
	JWKS          string   // the key set of the issuer, or ""
	JWKSURL       string   // its address, or "" if it is in JWKS or the issuer publishes it
	RequireScopes *bool    // nil if unset
}

// FromEnv reads the settings with getenv, usually [os.Getenv]. An error names
// the variable to change.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Tables: map[string]string{}}
	for _, t := range Tables {
		name := cmp.Or(getenv(t.Variable), t.Default)
		if !isTableName(name) {
			return Config{}, fmt.Errorf("%s: %q is not a valid table name: use 3 to 255 letters, digits, dots, dashes and underscores", t.Variable, name)
		}
		c.Tables[t.Resource] = name
	}
	var known bool
	if c.LogLevel, known = levels[strings.ToLower(getenv(LogLevel))]; !known {
		return Config{}, fmt.Errorf("%s: %q is not a log level: use debug, info, warn or error", LogLevel, getenv(LogLevel))
	}
	var err error
	if c.Tokens, err = tokens(getenv); err != nil {
		return Config{}, err
	}
	c.CORSOrigins = list(getenv(CORSOrigins))
	for _, o := range c.CORSOrigins {
		if !isOrigin(o) {
			return Config{}, fmt.Errorf("%s: %q is not an origin: use a scheme, a host and possibly a port, such as http://localhost:3000, or *", CORSOrigins, o)
		}
	}
	return c, nil
}

var levels = map[string]slog.Level{
	"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// isTableName reports whether a DynamoDB table can have the name s. It needs no
// regular expression, whose compilation each cold start of the function would pay.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func isTableName(s string) bool {
	const valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return 3 <= len(s) && len(s) <= 255 && strings.Trim(s, valid) == ""
}

// isOrigin reports whether s is * or a web origin (RFC 6454), such as
// https://example.com:8443.
func isOrigin(s string) bool {
	return regexp.MustCompile(`^(\*|https?://[^\s,/*]+)$`).MatchString(s)
}

// list splits a value at commas. It drops empty elements.
func list(value string) (elements []string) {
	for element := range strings.SplitSeq(value, ",") {
		if element = strings.TrimSpace(element); element != "" {
			elements = append(elements, element)
		}
	}
	return elements
}

// tokens rejects incomplete settings, so that the service does not start with an
// issuer other than the intended one.
func tokens(getenv func(string) string) (Tokens, error) {
	t := Tokens{
		Issuer:    getenv(TokenIssuer),
		Audiences: list(getenv(TokenAudience)),
		JWKS:      getenv(TokenJWKS),
		JWKSURL:   getenv(TokenJWKSURL),
	}
	switch v := getenv(RequireScopes); v {
	case "":
	case "true", "false":
		t.RequireScopes = new(v == "true")
	default:
		return Tokens{}, fmt.Errorf("%s: %q is not valid: use true or false", RequireScopes, v)
	}
	if t.Issuer == "" {
		for _, name := range []string{TokenAudience, TokenJWKSURL, TokenJWKS} {
			if getenv(name) != "" {
				return Tokens{}, fmt.Errorf("%s is set but %s is not: set it to the issuer of the tokens", name, TokenIssuer)
			}
		}
		return t, nil
	}
	if t.Audiences == nil {
		return Tokens{}, fmt.Errorf("%s is not set: set it to the accepted audiences, separated by commas", TokenAudience)
	}
	return t, nil
}
