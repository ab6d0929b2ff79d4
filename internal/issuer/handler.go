package issuer

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// The paths that [Issuer.Handler] serves.
const (
	TokenPath = "/oauth2/token"
	KeysPath  = "/.well-known/jwks.json"
)

// Handler serves token requests (POST) and the public keys (GET, HEAD). It issues
// tokens only for the hosts of access.
func (i *Issuer) Handler(access Access) http.Handler {
	allowed := access.filter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Pragma", "no-cache") // RFC 6749 section 5.1
		switch r.URL.Path {
		case TokenPath:
			i.serveToken(w, r, allowed)
		case KeysPath:
			i.serveKeys(w, r)
		default:
			fail(w, &failure{http.StatusNotFound, "invalid_request", "no such path"})
		}
	})
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, &failure{http.StatusMethodNotAllowed, "invalid_request", "only GET and HEAD are allowed"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(i.jwks) // fails only if the client is gone
}

func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request, allowed func(host string) bool) {
	if !allowed(r.Host) {
		fail(w, &failure{http.StatusForbidden, "access_denied",
			"no token for this Host header, which a malicious web page could have caused; " +
				"use localhost, a loopback address or, with -expose-issuer, another IP address of this machine"})
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, &failure{http.StatusMethodNotAllowed, "invalid_request", "only POST is allowed"})
		return
	}
	req, fault := parseRequest(w, r)
	if fault != nil {
		fail(w, fault)
		return
	}
	token, err := i.token(req.client, req.scopes)
	if err != nil {
		fail(w, &failure{http.StatusInternalServerError, "server_error", "the token could not be signed"})
		return
	}
	send(w, http.StatusOK, grant{token, "Bearer", int64(Lifetime / time.Second), strings.Join(req.scopes, " ")})
}

// A failure is an error response (RFC 6749 section 5.2). The description is
// printable ASCII without quotes and backslashes, so it never repeats input.
type failure struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// fail sends f. Status 401 is for clients that used HTTP Basic.
func fail(w http.ResponseWriter, f *failure) {
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="plants", charset="UTF-8"`)
	}
	send(w, f.status, f)
}

// send writes body as JSON and, for terminals, a newline.
func send(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // impossible: bodies are valid UTF-8 strings and numbers
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) // fails only if the client is gone
}
