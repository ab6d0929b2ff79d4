package issuer

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// TokenPath is where [Issuer.Handler] serves token requests.
const TokenPath = "/oauth2/token"

const (
	keysPath        = "/.well-known/jwks.json"
	maxBody         = 16 << 10 // bytes of a token request
	maxClientLength = 255      // bytes of a client_id, which becomes the sub
)

// Handler serves token requests, as far as access allows, and the public keys. It
// passes requests for all other paths to next.
func (i *Issuer) Handler(access Access, next http.Handler) http.Handler {
	check := access.checker()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() { // /oauth2%2Ftoken is another path
		case TokenPath:
			i.serveToken(w, r, check)
		case keysPath: // for any method, since the keys are public
			send(w, http.StatusOK, i.jwks)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// serveToken responds to a token request (RFC 6749 section 4.4.2), if check has no
// objection. It ignores client_secret and unknown parameters.
func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request, check func(*http.Request) error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "OPTIONS, POST")
		if r.Method == http.MethodOptions { // before a request from another origin (CORS)
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fail(w, http.StatusMethodNotAllowed, "invalid_request", "the method must be POST")
		return
	}
	if err := check(r); err != nil {
		fail(w, http.StatusForbidden, "access_denied", err.Error())
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "the request is malformed, incomplete, or larger than 16 KiB")
		return
	}
	// Not r.Form: RFC 6749 section 2.3.1 forbids parameters in the URL, which proxies log.
	form := r.PostForm
	if form.Get("grant_type") != "client_credentials" {
		fail(w, http.StatusBadRequest, "unsupported_grant_type",
			"the body must be application/x-www-form-urlencoded, with grant_type=client_credentials")
		return
	}
	client, basic := clientName(r)
	if strings.TrimSpace(client) == "" || len(client) > maxClientLength || !utf8.ValidString(client) {
		status := http.StatusBadRequest
		if basic { // RFC 6749 section 5.2
			status = http.StatusUnauthorized
			w.Header().Set("WWW-Authenticate", `Basic realm="plants", charset="UTF-8"`)
		}
		fail(w, status, "invalid_client", "client_id must be a name of 1 to 255 bytes of UTF-8, not only spaces, and percent-encoded in HTTP Basic")
		return
	}
	scopes := strings.Fields(form.Get("scope"))
	if len(scopes) == 0 { // so that the token also works where scopes are required
		scopes = i.scopes
	}
	if slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(i.scopes, scope) }) {
		fail(w, http.StatusBadRequest, "invalid_scope", "scope must be some of "+strings.Join(i.scopes, " "))
		return
	}
	token, err := i.token(client, scopes)
	if err != nil {
		fail(w, http.StatusInternalServerError, "server_error", "the token could not be signed")
		return
	}
	send(w, http.StatusOK, grant{token, "Bearer", int64(Lifetime / time.Second), strings.Join(scopes, " ")})
}

// clientName returns the client's name from HTTP Basic, if r uses it, or else from
// the parameter client_id (RFC 6749 section 2.3.1).
func clientName(r *http.Request) (name string, basic bool) {
	if r.Header.Get("Authorization") == "" {
		return r.PostForm.Get("client_id"), false
	}
	user, _, _ := r.BasicAuth()
	name, _ = url.QueryUnescape(user) // "" if the header or its encoding is malformed
	return name, true
}

// A grant is the response with a token (RFC 6749 section 5.1).
type grant struct {
	AccessToken string `json:"access_token"` // first, which makes it easy to extract in a shell
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"` // in seconds
	Scope       string `json:"scope"`
}

// An errorResponse says why a request got no token (RFC 6749 section 5.2).
type errorResponse struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// fail sends an error. The description must be printable ASCII without quotes and
// backslashes, so it never repeats input.
func fail(w http.ResponseWriter, status int, code, description string) {
	send(w, status, errorResponse{code, description})
}

// send sends body as JSON with, for terminals, a newline.
func send(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // impossible: bodies are valid UTF-8 strings and numbers
		panic(err)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache") // RFC 6749 section 5.1
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) // fails only if the client is gone
}
