package issuer

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/plantstore/internal/auth"
)

const (
	maxBody         = 16 << 10 // bytes of a token request
	maxClientLength = 255      // bytes of a client_id, which becomes the sub
)

// A request is a valid token request.
type request struct {
	client string
	scopes []string
}

// A grant is the response with a token (RFC 6749 section 5.1).
type grant struct {
	// AccessToken comes first, which makes it easy to extract in a shell.
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"` // in seconds
	Scope       string `json:"scope,omitzero"`
}

func invalidRequest(description string) *failure {
	return &failure{http.StatusBadRequest, "invalid_request", description}
}

// parseRequest reads a token request (RFC 6749 section 4.4.2). It ignores
// client_secret and unknown parameters.
func parseRequest(w http.ResponseWriter, r *http.Request) (request, *failure) {
	form, fault := parseForm(w, r)
	if fault != nil {
		return request{}, fault
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		return request{}, invalidRequest("grant_type is missing: it must be client_credentials")
	default:
		return request{}, &failure{http.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials"}
	}
	client, fault := parseClient(r, form.Get("client_id"))
	if fault != nil {
		return request{}, fault
	}
	scopes, fault := parseScopes(form.Get("scope"))
	return request{client, scopes}, fault
}

// parseForm reads the parameters in the body. Those in the URL are ignored: RFC
// 6749 section 2.3.1 forbids them, since URLs are logged.
func parseForm(w http.ResponseWriter, r *http.Request) (url.Values, *failure) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("the body must be application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, invalidRequest("the body is incomplete, or larger than 16 KiB")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, invalidRequest("the body is not properly percent-encoded")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if len(form[name]) > 1 {
			return nil, invalidRequest(name + " is given more than once")
		}
	}
	return form, nil
}

// parseClient returns the client's name from HTTP Basic or else from inBody, the
// parameter client_id (RFC 6749 section 2.3.1).
func parseClient(r *http.Request, inBody string) (string, *failure) {
	client, status := inBody, http.StatusBadRequest
	switch len(r.Header.Values("Authorization")) {
	case 0:
	case 1:
		status = http.StatusUnauthorized
		user, _, ok := r.BasicAuth()
		user, err := url.QueryUnescape(user)
		if !ok || err != nil || user == "" {
			return "", &failure{status, "invalid_client", "the Authorization header is not HTTP Basic with a percent-encoded client_id"}
		}
		if inBody != "" && inBody != user {
			return "", invalidRequest("client_id differs from that in the Authorization header")
		}
		client = user
	default:
		return "", invalidRequest("several Authorization headers")
	}
	switch {
	case client == "":
		return "", &failure{status, "invalid_client", "client_id is missing: it can be any name"}
	case len(client) > maxClientLength || !utf8.ValidString(client):
		return "", &failure{status, "invalid_client", "client_id must be 1 to 255 bytes of UTF-8"}
	}
	return client, nil
}

// parseScopes reads a list of scopes (RFC 6749 section 3.3) and drops duplicates.
// No scope means both, so that the token also works where scopes are required.
func parseScopes(s string) ([]string, *failure) {
	if s == "" {
		return []string{auth.ScopeRead, auth.ScopeWrite}, nil
	}
	var scopes []string
	for scope := range strings.SplitSeq(s, " ") {
		if scope != auth.ScopeRead && scope != auth.ScopeWrite {
			return nil, &failure{http.StatusBadRequest, "invalid_scope", "scope must be plants/read, plants/write or both, separated by one space"}
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}
