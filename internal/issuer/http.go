package issuer

import (
	"net/http"
	"net/netip"
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
	maxClientLength = 255 // bytes of a client_id, which becomes the sub
	maxBody         = 64 << 10
)

// Access specifies the host names under which clients may reach the issuer.
//
// A web page can make its own host name resolve to this machine and then read the issuer's
// responses (DNS rebinding). But the Host header of its requests contains that name.
type Access struct {
	Host    string // a host name or address, without port, that is always allowed, or ""
	Exposed bool   // allows all hosts that no public web page can have
}

// allows reports whether a request with this Host header may get a token.
func (a Access) allows(hostport string) bool {
	host := strings.ToLower((&url.URL{Host: hostport}).Hostname())
	addr, _ := netip.ParseAddr(host) // invalid if the host is a name
	switch {
	case host == "":
		return false
	case host == "localhost", addr.IsLoopback(), host == strings.ToLower(a.Host):
		return true
	case !a.Exposed:
		return false
	}
	return addr.IsValid() ||
		!strings.Contains(host, ".") || // a container, or a machine of the same network
		strings.HasSuffix(host, ".localhost") || // reserved for this machine
		strings.HasSuffix(host, ".local") || // reserved for one network, including Kubernetes' .svc.cluster.local
		strings.HasSuffix(host, ".internal") // reserved for private networks, such as host.docker.internal
}

// Handler serves token requests and the public keys. It passes requests for all other
// paths to next.
func (i *Issuer) Handler(access Access, next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); { // /oauth2%2Ftoken is another path
		case path == keysPath: // for any method, since the keys are public
			send(w, http.StatusOK, i.jwks)
		case path != TokenPath:
			next.ServeHTTP(w, r)
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			fail(w, http.StatusMethodNotAllowed, "invalid_request", "the method must be POST")
		case !access.allows(r.Host):
			fail(w, http.StatusForbidden, "access_denied", "no token for this Host header, "+
				"which a malicious web page could have caused; use localhost, a loopback address or, with -expose-issuer, "+
				"another IP address or the name of a container or service")
		case protection.Check(r) != nil:
			fail(w, http.StatusForbidden, "access_denied", "no token for a page of another origin")
		default:
			i.serveToken(w, r)
		}
	})
}

// serveToken responds to a token request (RFC 6749 section 4.4.2). It ignores
// client_secret and unknown parameters.
func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody) // net/http's own limit is 10 MB
	if r.ParseForm() != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "the request is malformed, incomplete or too large")
		return
	}
	// Not r.Form: RFC 6749 section 2.3.1 forbids parameters in the URL, which proxies log.
	form := r.PostForm
	if form.Get("grant_type") != "client_credentials" {
		fail(w, http.StatusBadRequest, "unsupported_grant_type",
			"the body must be application/x-www-form-urlencoded, with grant_type=client_credentials")
		return
	}
	client, status := form.Get("client_id"), http.StatusBadRequest
	basic := r.Header.Get("Authorization") != ""
	if basic {
		client, _, _ = r.BasicAuth()
		// Libraries encode it like a form (RFC 6749 section 2.3.1), Swagger UI and curl -u don't. PathUnescape
		// suits both, except for a space that is sent as a plus.
		if decoded, err := url.PathUnescape(client); err == nil {
			client = decoded
		}
		status = http.StatusUnauthorized // RFC 6749 section 5.2
	}
	if strings.TrimSpace(client) == "" || len(client) > maxClientLength || !utf8.ValidString(client) {
		if basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="plants", charset="UTF-8"`)
		}
		fail(w, status, "invalid_client", "client_id must be a name of 1 to 255 bytes of UTF-8, not only spaces")
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

// A grant is the response with a token (RFC 6749 section 5.1).
type grant struct {
	AccessToken string `json:"access_token"` // first, which makes it easy to extract in a shell
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"` // in seconds
	Scope       string `json:"scope"`
}

// An errorResponse explains why a request got no token (RFC 6749 section 5.2).
type errorResponse struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// fail sends an error. The description must be printable ASCII without quotes and
// backslashes, so it never repeats input.
func fail(w http.ResponseWriter, status int, code, description string) {
	send(w, status, errorResponse{code, description})
}

// send sends body as JSON. It adds a newline for terminals.
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
