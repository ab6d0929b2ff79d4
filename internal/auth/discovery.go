package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/time/rate"

	"example.com/plantstore/internal/config"
)

// newIssuerKeys returns the keys in c.JWKS or, without it, those at c.JWKSURL or at
// the address in the issuer's metadata (OpenID Connect Discovery 1.0, RFC 8414),
// without fetching either yet. The user pools of Amazon Cognito have a known
// address. An error names the environment variable.
func newIssuerKeys(c config.Tokens, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	k := &issuerKeys{client: restrict(client), log: log, address: c.JWKSURL}
	k.searches = rate.NewLimiter(rate.Every(searchEvery), searchBurst)
	if c.JWKSURL != "" { // an invalid URL is an error even if it is not used
		if err := checkURL(c.JWKSURL); err != nil {
			return nil, fmt.Errorf("%s: %w", config.TokenJWKSURL, err)
		}
	}
	if c.JWKS != "" {
		set, err := parseKeySet([]byte(c.JWKS))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.TokenJWKS, err)
		}
		k.set, k.fixed = set, true
	} else if c.JWKSURL == "" {
		u, err := parseIssuer(c.Issuer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w, or set %s", config.TokenIssuer, err, config.TokenJWKSURL)
		}
		if isCognito(u) {
			k.address = c.Issuer + "/.well-known/jwks.json"
			return k, nil
		}
		path := strings.TrimSuffix(u.EscapedPath(), "/")
		u.Path, u.RawPath = "", ""
		k.issuer = c.Issuer
		k.metadata = []string{
			u.String() + path + "/.well-known/openid-configuration",
			u.String() + "/.well-known/oauth-authorization-server" + path, // RFC 8414 section 3.1
		}
	}
	return k, nil
}

// parseIssuer returns the URL of an issuer that has metadata.
func parseIssuer(issuer string) (*url.URL, error) {
	u, err := url.Parse(issuer)
	var fault string
	switch {
	case strings.TrimSpace(issuer) != issuer:
		fault = "has white space at an end: remove it"
	case err != nil:
		fault = "is not a valid URL: correct it"
	case u.User != nil:
		fault = "has a user name: remove it"
	case strings.Contains(issuer, "?"):
		fault = "has a query: remove it"
	case strings.Contains(issuer, "#"):
		fault = "has a fragment: remove it"
	case u.Scheme != "https" && u.Scheme != "http":
		fault = "does not begin with https://: correct it"
	case u.Hostname() == "":
		fault = "has no host: correct it"
	case u.Scheme == "http" && !isLocal(u.Hostname()):
		fault = "must be https, except on this machine: correct it"
	case strings.Contains(u.Path, "/.well-known/"):
		_, name, _ := strings.Cut(u.Path, "/.well-known/")
		name, _, _ = strings.Cut(name, "/") // RFC 8414 has the issuer's path here
		fault = "is the address of the metadata: omit /.well-known/" + name
	}
	if fault != "" {
		public := issuer[strings.LastIndex(issuer, "@")+1:] // without a password
		return nil, fmt.Errorf("%q %s", public, fault)
	}
	return u, nil
}

// isCognito reports whether an issuer is a user pool of Amazon Cognito.
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
func isCognito(issuer *url.URL) bool {
	host := strings.TrimSuffix(issuer.Host, ".cn")
	return issuer.Scheme == "https" && len(issuer.Path) > 1 &&
		strings.HasPrefix(host, "cognito-idp.") && strings.HasSuffix(host, ".amazonaws.com")
}

// discover sets the address of the keys and the scopes of the issuer, from the
// first metadata document that has the address.
func (k *issuerKeys) discover() error {
	var faults []string
	for _, address := range k.metadata {
		var metadata struct {
			Issuer string   `json:"issuer"`
			Keys   string   `json:"jwks_uri"`
			Scopes []string `json:"scopes_supported"`
		}
		err := get(k.client, address, func(body []byte) error {
			if err := json.Unmarshal(body, &metadata); err != nil {
				return errors.New("not a JSON object with issuer and jwks_uri")
			}
			if metadata.Issuer != k.issuer {
				return fmt.Errorf("its issuer is %s, not %s", quote(metadata.Issuer), quote(k.issuer))
			}
			return checkURL(metadata.Keys)
		})
		if err == nil {
			k.address, k.scopes = metadata.Keys, metadata.Scopes
			return nil
		}
		faults = append(faults, err.Error())
	}
	return fmt.Errorf("no metadata of the token issuer: %s", strings.Join(faults, "; "))
}
