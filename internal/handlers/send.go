package handlers

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// errorBody is the Error shape of the interface.
type errorBody struct {
	Error   Code   `json:"error"`
	Message string `json:"message"`
}

// send writes the answer, a success or the failure that err is, and returns
// its status. Every answer leaves through here.
func send(w http.ResponseWriter, resp response, err error) int {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if err != nil {
		resp = failed(h, describe(err))
	}
	if resp.link != "" {
		h.Set("Link", resp.link)
	}
	if resp.body != nil {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(resp.status)
	w.Write(resp.body) // a client that went away leaves nothing to do
	return resp.status
}

// failed returns the answer that f is, and adds its headers to h.
func failed(h http.Header, f failure) response {
	for name := range f.header {
		h.Set(name, f.header.Get(name))
	}
	return response{status: f.code.Status(), body: encode(errorBody{f.code, f.message})}
}

// encode returns v as JSON on a line of its own. Strings are left as they are,
// but for what JSON itself wants escaped.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings were checked to be UTF-8 before they came in
	}
	return append(b, '\n')
}
