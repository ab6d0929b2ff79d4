package lambdahttp

import "net/http"

// A responseWriter gives the adapter's ResponseWriter the rules of [net/http.Server] for
// status and body.
type responseWriter struct {
	http.ResponseWriter
	isHead bool // the request's method is HEAD
	status int  // 0 until it is sent
}

// WriteHeader sends the status. Only the first call has an effect; in the adapter the
// last one would win. Informational (1xx) responses are dropped, since a Lambda
// response can't carry them.
func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write sends a part of the body, if the response may have one. The adapter would send a
// body with 204, with 304 and in responses to HEAD too, and guess a Content-Type from an
// empty body.
func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK) // unless a status was sent before
	switch {
	case len(p) == 0:
		return 0, nil
	case w.status == http.StatusNoContent, w.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case w.isHead:
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}
