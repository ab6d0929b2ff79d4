// Package authtest provides a token issuer for tests.
package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"example.com/plantstore/internal/auth"
)

// What the tokens of an [Issuer] contain.
const (
	IssuerURL = "https://issuer.test"
	Audience  = "plants-test"
	KeyID     = "es256" // of the ES256 key
	rsaKeyID  = "rs256"
	Lifetime  = time.Hour
)

var plantScopes = []string{"plants/read", "plants/write"}

// An Issuer signs tokens with an ES256 key or an RS256 key of 2048 bits.
type Issuer struct {
	ECKey  *ecdsa.PrivateKey
	RSAKey *rsa.PrivateKey
}

// rsaKey is shared by all issuers of a process, since generating it is slow.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// NewIssuer returns an Issuer with its own ES256 key. The parameter restricts it to tests.
func NewIssuer(testing.TB) *Issuer {
	return &Issuer{must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), must(rsaKey())}
}

// JWKS returns the public keys as a JSON Web Key Set.
func (i *Issuer) JWKS() []byte {
	return must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.ECKey.Public(), KeyID: KeyID, Algorithm: string(jose.ES256), Use: "sig"},
		{Key: i.RSAKey.Public(), KeyID: rsaKeyID, Algorithm: string(jose.RS256), Use: "sig"},
	}}))
}

// Verifier returns a verifier of the Issuer's tokens. By default, the audience and
// keys in c are those of the Issuer, and the scopes are plants/read and plants/write.
func (i *Issuer) Verifier(tb testing.TB, c auth.Config, scopes ...string) *auth.Verifier {
	tb.Helper()
	c.Issuer = IssuerURL
	if c.Audiences == nil {
		c.Audiences = []string{Audience}
	}
	if c.KeysURL == "" && c.Keys == nil {
		c.Keys = must(auth.ParseKeySet(i.JWKS()))
	}
	if scopes == nil {
		scopes = plantScopes
	}
	v, err := auth.New(c, scopes, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// Claims returns the claims of a token for sub. The default scopes are plants/read and
// plants/write.
func Claims(sub string, scopes ...string) map[string]any {
	if scopes == nil {
		scopes = plantScopes
	}
	now := time.Now()
	return map[string]any{
		"iss": IssuerURL, "sub": sub, "aud": Audience, "iat": now.Unix(), "exp": now.Add(Lifetime).Unix(),
		"scope": strings.Join(scopes, " "),
	}
}

// Token returns a token with [Claims], signed with the ES256 key.
func (i *Issuer) Token(sub string, scopes ...string) string { return i.Sign(Claims(sub, scopes...)) }

// Sign returns a token with these claims, signed with the ES256 key.
func (i *Issuer) Sign(claims map[string]any) string { return sign(jose.ES256, i.ECKey, KeyID, claims) }

// SignRS256 is like [Issuer.Sign] with the RS256 key.
func (i *Issuer) SignRS256(claims map[string]any) string {
	return sign(jose.RS256, i.RSAKey, rsaKeyID, claims)
}

func sign(alg jose.SignatureAlgorithm, key crypto.Signer, kid string, claims map[string]any) string {
	jwk := jose.JSONWebKey{Key: key, KeyID: kid}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jwk}, (&jose.SignerOptions{}).WithType("at+jwt")))
	return must(jwt.Signed(signer).Claims(claims).Serialize())
}

// must panics on an error. Unlike tb.Fatal, it works on any goroutine.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
