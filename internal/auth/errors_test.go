package auth_test

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

// The errors of the serialization and of the signature.
func TestErrorTexts(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	v := staticVerifier(t, keySet(
		newJWK(issuer.ECKey.Public(), authtest.KeyID),
		jwk{"kty": "OKP", "crv": "Ed448", "kid": "ed448", "x": b64(make([]byte, 57))},
		newJWK(small.Public(), "small"),
	))
	token := issuer.Token("alice")
	for _, test := range []struct{ token, want string }{
		{"ory_at_abc.def", "not a JWT, which has three parts separated by dots: configure the issuer to issue JWT access tokens"},
		{strings.Repeat("x", 10240), "not a JWT"}, // API Gateway's limit
		{strings.Repeat("x", 10241), "10241 bytes, more than 10240"},
		{"a.b.c.d.e", "an encrypted token: configure the issuer to sign"},
		{token + "=", "not base64url without padding"},
		{strings.Replace(token, ".", "\r\n.", 1), "not a JWT"},
		{es256(issuer.ECKey, "ed448", claimsWith(nil)), `the key "ed448" is unusable: go-jose/go-jose: unsupported key type`},
		{es256(issuer.ECKey, "small", claimsWith(nil)), `the key "small" is unusable: an RSA key of 1024 bits, fewer than 2048`},
		{es256(newECKey(issuer.ECKey.Curve), authtest.KeyID, claimsWith(nil)), `wrong signature, by ES256 with key "es256"`},
	} {
		checkText(t, v, test.token, test.want)
	}
}

// An error for an invalid setting is one line that names the variable, without
// passwords.
func TestInvalidConfig(t *testing.T) {
	try := func(c config.Tokens, want string) {
		t.Helper()
		_, err := auth.New(c, []string{"plants/read"}, http.DefaultClient, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: got %v; want one line with %q", c, err, want)
		}
	}
	plants := []string{"plants"}
	try(config.Tokens{Audiences: plants, JWKS: "{"}, "TOKEN_ISSUER or TOKEN_AUDIENCE is not set: ")
	try(config.Tokens{Issuer: "i", JWKS: "{"}, "TOKEN_ISSUER or TOKEN_AUDIENCE is not set: ")
	try(config.Tokens{Issuer: "i", Audiences: []string{"a", ""}, JWKS: "{"}, "TOKEN_ISSUER or TOKEN_AUDIENCE is not set: ")
	key := toJSON(newJWK(newECKey(elliptic.P256()).Public(), ""))
	for document, fault := range map[string]string{
		"<html>":                 "not a JSON Web Key Set, ",
		`{"KEYS":[` + key + `]}`: "none of the 0 keys ",
		`{"keys":null}`:          "none of the 0 keys ",
		`{"keys":[` + strings.TrimSuffix(key, "}") + `,"kty":"EC"}]}`: "none of the 1 keys of the JSON Web Key Set is usable; key 1: not a JSON object ",
		`{"keys":[` + strings.TrimSuffix(key, "}") + `,"kid":1}]}`:    "none of the 1 keys of the JSON Web Key Set is usable; key 1: its kid is not a string",
	} {
		try(config.Tokens{Issuer: "i", Audiences: plants, JWKS: document}, "TOKEN_JWKS: "+fault)
	}
	for address, invalid := range map[string]string{
		"HTTPS://issuer.test/keys":            "TOKEN_JWKS: ", // the address is valid
		"http://LOCALHOST:8080/keys":          "TOKEN_JWKS: ",
		"http://[::1]/keys":                   "TOKEN_JWKS: ",
		"http://host.docker.internal:8080":    "TOKEN_JWKS: ",
		"http://localhost.issuer.test/keys":   "TOKEN_JWKS_URL: ",
		"http://127.0.0.1.issuer.test":        "TOKEN_JWKS_URL: ",
		"http://localhost@issuer.test":        "TOKEN_JWKS_URL: ",
		"ftp://localhost/keys":                "TOKEN_JWKS_URL: ",
		"https:///keys#secret":                "TOKEN_JWKS_URL: ",
		"https://issuer.test/%zz?secret":      "TOKEN_JWKS_URL: ",
		"http://user:secret@issuer.test/keys": "TOKEN_JWKS_URL: ",
	} {
		try(config.Tokens{Issuer: "i", Audiences: plants, JWKSURL: address, JWKS: "{"}, invalid)
	}
	for issuer, fault := range map[string]string{ // without other settings, it must have metadata
		"urn:plantstore:local":    `"urn:plantstore:local" does not begin with https://`,
		"localhost:8080":          `"localhost:8080" does not begin with https://`,
		"http://a.test":           `"http://a.test" must be https`,
		"https://":                `"https://" has no host`,
		" https://a.test":         `" https://a.test" has white space`,
		"https://a.test/?":        `"https://a.test/?" has a query`,
		"https://a.test/#":        `"https://a.test/#" has a fragment`,
		"https://a.test/%zz":      `"https://a.test/%zz" is not a valid URL`,
		"https://x:secret@a.test": `"a.test" has a user name`,
		oauth + "/x":              `"` + oauth + `/x" is the address of the metadata: omit /.well-known/oauth-authorization-server, or`,
	} {
		try(config.Tokens{Issuer: issuer, Audiences: plants}, "TOKEN_ISSUER: "+fault)
	}
}
