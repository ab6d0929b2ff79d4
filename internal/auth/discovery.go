package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
)

// IssuerKeys returns the keys that an issuer publishes, without fetching them
// yet; see [RemoteKeySet.Load]. Their address is in the issuer's metadata (OpenID
// Connect Discovery 1.0, RFC 8414), which is fetched along with them. The issuer
// must be a URL with a scheme that [RemoteKeys] accepts, and so must the address.
// The user pools of Amazon Cognito have a known address.
//
// The address is kept until a fetch from it fails. If client is nil, a client
// with the default transport is used.
func IssuerKeys(issuer string, client *http.Client) (*RemoteKeySet, error) {
	u, err := url.Parse(issuer)
	if err != nil || checkURL(u) != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the issuer is not an https URL without a query: set the address of its keys")
	}
	if isCognito(u) {
		return RemoteKeys(issuer+"/.well-known/jwks.json", client)
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	u.Path, u.RawPath = "", ""
	return &RemoteKeySet{
		issuer: issuer,
		metadata: []string{
			u.String() + path + "/.well-known/openid-configuration",
			u.String() + "/.well-known/oauth-authorization-server" + path, // RFC 8414 section 3.1
		},
		client: restrict(client),
	}, nil
}

// isCognito reports whether an issuer is a user pool of Amazon Cognito.
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
func isCognito(issuer *url.URL) bool {
	host := strings.TrimSuffix(issuer.Host, ".cn")
	return issuer.Scheme == "https" && len(issuer.Path) > 1 &&
		strings.HasPrefix(host, "cognito-idp.") && strings.HasSuffix(host, ".amazonaws.com")
}

// discover returns the address of the keys, from the first metadata document that
// has it.
func (r *RemoteKeySet) discover(ctx context.Context) (string, error) {
	var faults []string
	for _, address := range r.metadata {
		keys, err := getMetadata(ctx, r.client, address, r.issuer)
		if err == nil {
			return keys, nil
		}
		faults = append(faults, err.Error())
	}
	return "", fmt.Errorf("no metadata of the token issuer: %s", strings.Join(faults, "; "))
}

// getMetadata returns the address of the keys from a metadata document.
func getMetadata(ctx context.Context, client *http.Client, rawURL, issuer string) (keys string, err error) {
	var metadata struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	err = get(ctx, client, rawURL, func(body []byte) error {
		if err := json.Unmarshal(body, &metadata); err != nil {
			return errors.New("not a JSON object with issuer and jwks_uri")
		}
		if metadata.Issuer != issuer {
			return fmt.Errorf("its issuer is %s, not %s", quote(metadata.Issuer), quote(issuer))
		}
		u, err := url.Parse(metadata.Keys)
		if err == nil {
			err = checkURL(u)
		}
		if err != nil {
			return fmt.Errorf("its jwks_uri: %w", err)
		}
		return nil
	})
	return metadata.Keys, err
}
