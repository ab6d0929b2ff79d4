package issuer

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/plantstore/internal/auth"
)

const (
	maxBody         = 16 << 10 // bytes of a token request
	maxClientLength = 255      // bytes of a client_id: it becomes the sub
)

// A request asks for a token of a client for scopes.
type request struct {
	client string
	scopes []string
}

// A fault says why a request gets no token, and whether the client named
// itself by HTTP Basic.
type fault struct {
	failure
	basic bool
}

// status follows RFC 6749 section 5.2: 400, but 401 for who used Basic in vain.
func (f *fault) status() int {
	if f.basic {
		return http.StatusUnauthorized
	}
	return http.StatusBadRequest
}

func refuse(code, description string) *fault {
	return &fault{failure: failure{code, description}}
}

// grant is the answer with a token (RFC 6749 section 5.1).
type grant struct {
	// AccessToken comes first, so that a shell can cut it out.
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"` // in seconds
	Scope       string `json:"scope,omitzero"`
}

func newGrant(token string, scopes []string) grant {
	return grant{token, "Bearer", int64(Lifetime / time.Second), strings.Join(scopes, " ")}
}

// parseRequest reads a token request (RFC 6749 section 4.4.2). A client_secret
// has no effect, and neither have parameters that are not known.
func parseRequest(w http.ResponseWriter, r *http.Request) (request, *fault) {
	form, fault := parseForm(w, r)
	if fault != nil {
		return request{}, fault
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		return request{}, refuse("invalid_request", "the body lacks the parameter grant_type: it is client_credentials")
	default:
		return request{}, refuse("unsupported_grant_type", "the only grant_type is client_credentials")
	}
	client, fault := parseClient(r, form.Get("client_id"))
	if fault != nil {
		return request{}, fault
	}
	scopes, fault := parseScopes(form.Get("scope"))
	return request{client, scopes}, fault
}

// parseForm reads the parameters of the body. Those of the URL don't count:
// RFC 6749 section 2.3.1 forbids them, since URLs end up in logs.
func parseForm(w http.ResponseWriter, r *http.Request) (url.Values, *fault) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, refuse("invalid_request", "the body must be application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, refuse("invalid_request", "the body ends early, or is larger than 16 KiB")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, refuse("invalid_request", "the body is not properly encoded")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if len(form[name]) > 1 {
			return nil, refuse("invalid_request", "the parameter "+name+" is given more than once")
		}
	}
	return form, nil
}

// parseClient returns the name of the client: by HTTP Basic, or else inBody,
// the parameter client_id (RFC 6749 section 2.3.1).
func parseClient(r *http.Request, inBody string) (string, *fault) {
	client := inBody
	switch len(r.Header.Values("Authorization")) {
	case 0:
	case 1:
		var ok bool
		if client, ok = basicClient(r); !ok {
			return "", &fault{failure{"invalid_client", "the Authorization header is not HTTP Basic with a client_id, percent-encoded"}, true}
		}
		if inBody != "" && inBody != client {
			return "", refuse("invalid_request", "the client_id of the body is not that of the Authorization header")
		}
	default:
		return "", refuse("invalid_request", "several Authorization headers")
	}
	switch {
	case client == "":
		return "", refuse("invalid_client", "the body lacks the parameter client_id: it is the name of any user")
	case len(client) > maxClientLength || !utf8.ValidString(client):
		basic := r.Header.Get("Authorization") != ""
		return "", &fault{failure{"invalid_client", "the client_id must be 1 to 255 bytes of UTF-8"}, basic}
	}
	return client, nil
}

func basicClient(r *http.Request) (string, bool) {
	user, _, ok := r.BasicAuth()
	if !ok {
		return "", false
	}
	client, err := url.QueryUnescape(user)
	return client, err == nil && client != ""
}

// parseScopes reads a list of scopes (RFC 6749 section 3.3), without repeats.
// Who asks for none gets all: such a token is good where scopes are demanded.
func parseScopes(s string) ([]string, *fault) {
	if s == "" {
		return []string{auth.ScopeRead, auth.ScopeWrite}, nil
	}
	var scopes []string
	for scope := range strings.SplitSeq(s, " ") {
		if scope != auth.ScopeRead && scope != auth.ScopeWrite {
			return nil, refuse("invalid_scope", "the scopes are plants/read and plants/write, with one space between them")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}
