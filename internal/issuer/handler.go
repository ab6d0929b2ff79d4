package issuer

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// The paths that [Issuer.Handler] serves.
const (
	TokenPath = "/oauth2/token"
	KeysPath  = "/.well-known/jwks.json"
)

// Handler returns the handler of the two paths: POST of a token request, and
// GET and HEAD of the public keys. Access says for which hosts it hands out
// tokens.
func (i *Issuer) Handler(access Access) http.Handler {
	admits := access.admits()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Pragma", "no-cache") // RFC 6749 section 5.1
		switch r.URL.Path {
		case TokenPath:
			i.serveToken(w, r, admits)
		case KeysPath:
			i.serveKeys(w, r)
		default:
			send(w, http.StatusNotFound, failure{"invalid_request", "no such path"})
		}
	})
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		send(w, http.StatusMethodNotAllowed, failure{"invalid_request", "only GET and HEAD are allowed"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(i.jwks) // an error here is the client's going away
}

func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request, admits func(host string) bool) {
	if !admits(r.Host) {
		send(w, http.StatusForbidden, failure{"access_denied",
			"no tokens for this Host, since any web page could let its own name point here: " +
				"use localhost, a loopback address or, with -expose-issuer, another IP address of this machine"})
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		send(w, http.StatusMethodNotAllowed, failure{"invalid_request", "only POST is allowed"})
		return
	}
	req, fault := parseRequest(w, r)
	if fault != nil {
		if fault.basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="plants", charset="UTF-8"`)
		}
		send(w, fault.status(), fault.failure)
		return
	}
	token, err := i.token(req.client, req.scopes)
	if err != nil {
		send(w, http.StatusInternalServerError, failure{"server_error", "the token could not be signed"})
		return
	}
	send(w, http.StatusOK, newGrant(token, req.scopes))
}

// A failure is the body of an answer without a token (RFC 6749 section 5.2).
// The description has neither quotes, nor backslashes, nor what isn't ASCII:
// it never repeats what the client sent.
type failure struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// send answers with the JSON of body and a new line, for those who read it in
// a terminal.
func send(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // only a fault of this package: its bodies are plain strings and numbers
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) // an error here is the client's going away
}
