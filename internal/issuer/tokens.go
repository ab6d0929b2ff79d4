// Package issuer is a token issuer for local development. It implements the
// client credentials grant of OAuth 2.0 (RFC 6749 section 4.4), but verifies no
// secret: any client gets a token for any name.
package issuer

import (
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The contents of tokens. They don't depend on the issuer's address, so that
// tokens remain valid when it changes.
const (
	Name     = "urn:plantstore:local" // iss
	Audience = "plants"               // aud
	Lifetime = time.Hour              // exp minus iat
)

// An Issuer signs tokens with one ES256 key. It is safe for concurrent use.
type Issuer struct {
	signer jose.Signer
	jwks   jsontext.Value // with the public key
	scopes []string
}

// Open returns an Issuer with the key in the file [KeyFile] of dir. Its tokens can
// have the given scopes. Open creates a missing key. If the file is invalid, Open
// leaves it alone and returns an error.
func Open(dir string, scopes []string) (*Issuer, error) {
	key, err := loadOrCreateKey(dir)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: key.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := public.Thumbprint(crypto.SHA256) // RFC 7638
	if err != nil {
		return nil, err
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	jwks, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: public.KeyID}},
		(&jose.SignerOptions{}).WithType("at+jwt"), // RFC 9068 section 2.1
	)
	if err != nil {
		return nil, err
	}
	return &Issuer{signer, jwks, scopes}, nil
}

// JWKS returns the public key as a JSON Web Key Set (RFC 7517 section 5).
func (i *Issuer) JWKS() string { return string(i.jwks) }

// token returns a token for the client, which must be valid UTF-8. It contains the
// claims that RFC 9068 section 2.2 requires, and scope.
func (i *Issuer) token(client string, scopes []string) (string, error) {
	now := time.Now()
	return jwt.Signed(i.signer).Claims(map[string]any{
		"iss":       Name,
		"sub":       client,
		"aud":       Audience,
		"client_id": client,
		"exp":       now.Add(Lifetime).Unix(),
		"iat":       now.Unix(),
		"jti":       rand.Text(),
		"scope":     strings.Join(scopes, " "),
	}).Serialize()
}
