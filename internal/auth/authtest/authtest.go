// Package authtest is a token issuer for tests: its keys are made anew, it
// signs whatever it is given, and nothing but a test may trust it.
package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.com/plantstore/internal/auth"
)

// What an [Issuer] puts into its tokens.
const (
	IssuerURL = "https://issuer.test"
	Audience  = "plants-test"
	KeyID     = "es256" // of the ES256 key
	RSAKeyID  = "rs256" // of the RS256 key

	Lifetime = time.Hour
)

// An Issuer signs tokens with an ES256 key and an RS256 key of 2048 bits. Its
// methods can be called from any goroutine.
type Issuer struct {
	// ECKey and RSAKey are the private keys, for tokens that the methods
	// don't make.
	ECKey  *ecdsa.PrivateKey
	RSAKey *rsa.PrivateKey
}

// rsaKey is one for the whole process, since making it takes long.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// NewIssuer returns an Issuer with an ES256 key of its own.
func NewIssuer(tb testing.TB) *Issuer {
	tb.Helper()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	rs, err := rsaKey()
	if err != nil {
		tb.Fatal(err)
	}
	return &Issuer{ECKey: ec, RSAKey: rs}
}

// JWKS returns the public keys as a JSON Web Key Set, as an issuer publishes
// it and [auth.StaticKeys] takes it.
func (i *Issuer) JWKS() []byte {
	return must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.ECKey.Public(), KeyID: KeyID, Algorithm: string(jose.ES256), Use: "sig"},
		{Key: i.RSAKey.Public(), KeyID: RSAKeyID, Algorithm: string(jose.RS256), Use: "sig"},
	}}))
}

// Verifier returns a verifier that accepts the Issuer's tokens, and demands no
// scopes.
func (i *Issuer) Verifier(tb testing.TB) *auth.Verifier {
	tb.Helper()
	return i.VerifierOf(tb, auth.Config{})
}

// VerifierOf returns a verifier by c, in which what is empty is filled in to
// fit the Issuer.
func (i *Issuer) VerifierOf(tb testing.TB, c auth.Config) *auth.Verifier {
	tb.Helper()
	if c.Issuer == "" {
		c.Issuer = IssuerURL
	}
	if c.Audiences == nil {
		c.Audiences = []string{Audience}
	}
	if c.Keys == nil {
		keys, err := auth.StaticKeys(i.JWKS())
		if err != nil {
			tb.Fatal(err)
		}
		c.Keys = keys
	}
	v, err := auth.NewVerifier(c)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// Claims returns the claims of a token of sub that is valid from now on for
// [Lifetime], to be changed and signed. Without scopes there is no scope claim.
func Claims(sub string, scopes ...string) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": IssuerURL,
		"sub": sub,
		"aud": Audience,
		"iat": now.Unix(),
		"exp": now.Add(Lifetime).Unix(),
	}
	if len(scopes) > 0 {
		claims["scope"] = strings.Join(scopes, " ")
	}
	return claims
}

// Token returns a token of sub that is valid from now on for [Lifetime],
// signed with the ES256 key.
func (i *Issuer) Token(sub string, scopes ...string) string {
	return i.Sign(Claims(sub, scopes...))
}

// Sign returns a token with exactly these claims, signed with the ES256 key.
func (i *Issuer) Sign(claims map[string]any) string {
	return sign(jose.ES256, i.ECKey, KeyID, claims)
}

// SignRS256 is [Issuer.Sign] with the RS256 key.
func (i *Issuer) SignRS256(claims map[string]any) string {
	return sign(jose.RS256, i.RSAKey, RSAKeyID, claims)
}

func sign(alg jose.SignatureAlgorithm, key crypto.Signer, kid string, claims map[string]any) string {
	signer := must(jose.NewSigner(
		jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}},
		(&jose.SignerOptions{}).WithType("at+jwt"),
	))
	jws := must(signer.Sign(must(json.Marshal(claims))))
	return must(jws.CompactSerialize())
}

// must panics on errors that only a fault of this package can cause: unlike
// the methods of testing.TB, a panic is sound on every goroutine.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
