// Package config reads the service's settings from environment variables. An
// empty variable counts as unset.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"example.com/plantstore/internal/auth"
)

// The names of the environment variables. The endpoint, region and credentials
// of DynamoDB are set by the AWS SDK's own variables.
const (
	EnvTableName     = "TABLE_NAME"
	EnvTokenIssuer   = "TOKEN_ISSUER"
	EnvTokenAudience = "TOKEN_AUDIENCE"
	EnvTokenJWKSURL  = "TOKEN_JWKS_URL"
	EnvTokenJWKS     = "TOKEN_JWKS"
	EnvRequireScopes = "REQUIRE_SCOPES"
	EnvLogLevel      = "LOG_LEVEL"
)

// Variables contains these names. cmd/local lists them with -help.
var Variables = []string{
	EnvTableName, EnvTokenIssuer, EnvTokenAudience, EnvTokenJWKSURL, EnvTokenJWKS, EnvRequireScopes, EnvLogLevel,
}

// Config holds the settings of the service.
type Config struct {
	// TableName is the name of the DynamoDB table. The default is plants.
	TableName string

	// Tokens specifies the accepted tokens. Without an issuer, only ScopesOptional
	// may be set.
	Tokens auth.Config

	// LogLevel is the minimum level of log lines. The default is info.
	LogLevel slog.Level
}

// FromEnv reads the settings with getenv, usually [os.Getenv]. An error names
// the variable to change.
func FromEnv(getenv func(string) string) (Config, error) {
	var c Config
	var err error
	for _, name := range Variables {
		if v := getenv(name); strings.HasPrefix(v, `"`) || strings.HasPrefix(v, "'") {
			return Config{}, fmt.Errorf("%s begins with a quote: remove the quotes, which docker --env-file keeps", name)
		}
	}
	c.TableName = cmp.Or(getenv(EnvTableName), "plants")
	if !isTableName(c.TableName) {
		return Config{}, fmt.Errorf("%s: %q is not a valid table name: "+
			"use 3 to 255 letters, digits, dots, dashes and underscores", EnvTableName, c.TableName)
	}
	level := cmp.Or(getenv(EnvLogLevel), "info")
	if c.LogLevel.UnmarshalText([]byte(level)) != nil {
		return Config{}, fmt.Errorf("%s %q is not valid: use debug, info, warn or error", EnvLogLevel, level)
	}
	if c.Tokens, err = tokens(getenv); err != nil {
		return Config{}, err
	}
	return c, nil
}

// isTableName reports whether s is a valid name of a DynamoDB table. It uses no regular
// expression, because compiling one would slow down each cold start of the function.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func isTableName(s string) bool {
	const valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	isInvalid := func(r rune) bool { return !strings.ContainsRune(valid, r) }
	return 3 <= len(s) && len(s) <= 255 && !strings.ContainsFunc(s, isInvalid)
}

// mayContainPassword reports whether an address has a user, query or fragment. Such an
// address must not be printed.
func mayContainPassword(address string) bool { return strings.ContainsAny(address, "@?#") }

// splitList splits a value at commas and drops empty elements.
func splitList(value string) (elements []string) {
	for element := range strings.SplitSeq(value, ",") {
		if element = strings.TrimSpace(element); element != "" {
			elements = append(elements, element)
		}
	}
	return elements
}

// tokens returns the settings for accepted tokens. It rejects incomplete settings, so that
// the service doesn't start with the wrong issuer.
func tokens(getenv func(string) string) (t auth.Config, err error) {
	t.Issuer, t.KeysURL = getenv(EnvTokenIssuer), getenv(EnvTokenJWKSURL)
	switch v := getenv(EnvRequireScopes); v {
	case "", "true":
	case "false":
		t.ScopesOptional = true
	default:
		return t, fmt.Errorf("%s: %q is not valid: use true or false", EnvRequireScopes, v)
	}
	if t.Issuer == "" {
		for _, name := range []string{EnvTokenAudience, EnvTokenJWKSURL, EnvTokenJWKS} {
			if getenv(name) != "" {
				return t, fmt.Errorf("%s is set: also set %s to the issuer of the tokens", name, EnvTokenIssuer)
			}
		}
		return t, nil
	}
	for _, name := range []string{EnvTokenIssuer, EnvTokenJWKSURL} {
		if err := checkWhiteSpace(name, getenv(name)); err != nil {
			return t, err
		}
	}
	if t.Audiences = splitList(getenv(EnvTokenAudience)); t.Audiences == nil {
		return t, fmt.Errorf("%s has no value, although %s is set: set it to the accepted audiences, separated by commas",
			EnvTokenAudience, EnvTokenIssuer)
	}
	if t.KeysURL != "" {
		if err := auth.CheckURL(t.KeysURL); err != nil {
			return t, fmt.Errorf("%s: %w", EnvTokenJWKSURL, err)
		}
	}
	if keys := getenv(EnvTokenJWKS); keys != "" {
		if t.Keys, err = auth.ParseKeySet([]byte(keys)); err != nil {
			return t, fmt.Errorf("%s: %w", EnvTokenJWKS, err)
		}
	}
	if t.Keys == nil && t.KeysURL == "" {
		if err := checkIssuer(t.Issuer); err != nil {
			return t, fmt.Errorf("%s: %w", EnvTokenIssuer, err)
		}
	}
	return t, nil
}

// checkWhiteSpace returns an error if the value has white space, such as a line break at the
// end of the file that contained it.
func checkWhiteSpace(name, value string) error {
	switch {
	case !strings.ContainsFunc(value, unicode.IsSpace):
		return nil
	case mayContainPassword(value):
		return fmt.Errorf("%s has white space: remove it", name)
	}
	return fmt.Errorf("%s %q has white space: remove it", name, value)
}

// checkIssuer returns an error unless the address of the issuer's metadata can be derived
// from issuer.
func checkIssuer(issuer string) error {
	if mayContainPassword(issuer) {
		return errors.New("remove its user, query or fragment, or set " + EnvTokenJWKSURL)
	}
	if !strings.HasPrefix(issuer, "https://") && !strings.HasPrefix(issuer, "http://") {
		return fmt.Errorf("%q doesn't begin with https:// or, on this machine, http://; if it has no metadata, set %s",
			issuer, EnvTokenJWKSURL)
	}
	if strings.Contains(issuer, "/.well-known/") {
		return errors.New("this is the address of the metadata: use the issuer in it")
	}
	return auth.CheckURL(issuer) // rejects http:// on other machines
}
