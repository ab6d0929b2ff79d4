// Package issuer is a token issuer for local development. It implements the
// client credentials grant of OAuth 2.0 (RFC 6749 section 4.4), but verifies no
// secret: any client gets a token for any name.
package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
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
	jwks   []byte
}

// Open returns the Issuer whose key is in dir, in the file [KeyFile]. It creates
// dir and the key if they don't exist. Processes that do so concurrently get the
// same key.
//
// If the file is not a valid key, Open leaves it alone and returns an error that
// names it.
func Open(dir string) (*Issuer, error) {
	key, err := loadOrCreateKey(dir)
	if err != nil {
		return nil, err
	}
	return newIssuer(key)
}

func newIssuer(key *ecdsa.PrivateKey) (*Issuer, error) {
	public := jose.JSONWebKey{Key: key.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := public.Thumbprint(crypto.SHA256) // RFC 7638
	if err != nil {
		return nil, fmt.Errorf("token key: %w", err)
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	jwks, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
	if err != nil {
		return nil, fmt.Errorf("token key: %w", err)
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: public.KeyID}},
		(&jose.SignerOptions{}).WithType("at+jwt"), // RFC 9068 section 2.1
	)
	if err != nil {
		return nil, fmt.Errorf("token key: %w", err)
	}
	return &Issuer{signer: signer, jwks: jwks}, nil
}

// JWKS returns the public key as a JSON Web Key Set (RFC 7517 section 5).
func (i *Issuer) JWKS() []byte { return slices.Clone(i.jwks) }

// claims are those that RFC 9068 section 2.2 requires, and scope.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	ClientID string `json:"client_id"`
	Expires  int64  `json:"exp"`
	IssuedAt int64  `json:"iat"`
	ID       string `json:"jti"`
	Scope    string `json:"scope,omitzero"`
}

// token returns a token for the client, which must be valid UTF-8.
func (i *Issuer) token(client string, scopes []string) (string, error) {
	now := time.Now()
	payload, err := json.Marshal(claims{
		Issuer:   Name,
		Subject:  client,
		Audience: Audience,
		ClientID: client,
		Expires:  now.Add(Lifetime).Unix(),
		IssuedAt: now.Unix(),
		ID:       rand.Text(),
		Scope:    strings.Join(scopes, " "),
	})
	if err != nil {
		return "", err
	}
	jws, err := i.signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return jws.CompactSerialize()
}
