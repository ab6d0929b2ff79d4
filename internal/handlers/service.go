// Package handlers is the HTTP layer of the service: one [http.Handler] for all
// routes, used both on Lambda and by the plain server.
//
// The context of a request limits its time. Package lambdahttp and cmd/local set the limit.
//
// [Service.ServeHTTP] finds the route of a request (routes.go), checks the
// token, calls the route's function (operations.go), and sends and logs the result.
// All responses are sent in one place, so each gets the common headers, and each error
// the Error shape (errors.go).
package handlers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/excerpt"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
)

// A Service serves the plant store over HTTP. It is safe for concurrent use.
type Service struct {
	store    plants.Store
	verifier *auth.Verifier
	log      *slog.Logger
}

// New returns a service that keeps plants in store, accepts callers with valid tokens,
// and logs one line per request.
func New(store plants.Store, verifier *auth.Verifier, log *slog.Logger) *Service {
	return &Service{store: store, verifier: verifier, log: log}
}

// A request is an HTTP request with what the service knows about it.
type request struct {
	*http.Request
	route  *Route      // nil if no route matches
	pathID string      // the path segment that stands for {id}, if the route has one
	caller auth.Caller // the zero value without a valid token
}

// A response is what a client gets.
type response struct {
	status int
	code   errorCode         // 0 for a success
	header map[string]string // in addition to the headers of every response
	body   []byte            // JSON, or nil for no body
}

// ServeHTTP serves one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, ctx := time.Now(), r.Context()
	if logging.RequestID(ctx) == "" { // else package lambdahttp has set it
		ctx = logging.WithRequestID(ctx, rand.Text())
	}
	req := &request{Request: r.WithContext(ctx)}
	req.route, req.pathID = find(r.Method, r.URL.Path)
	req.Body = http.MaxBytesReader(w, r.Body, maxBody)
	resp, err := s.handle(req)
	if err != nil {
		resp = errorResponse(req.route, err)
	}
	send(w, req.Request, resp)
	s.logRequest(req, resp, err, time.Since(start))
}

// handle checks path, method, token and scope, in this order, and runs the
// route's function. It returns a panic as an error.
func (s *Service) handle(r *request) (resp response, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	if r.route == nil {
		return unrouted(r)
	}
	r.caller, err = s.verifier.Authenticate(r.Context(), r.Header, r.route.Scope)
	if err != nil {
		return response{}, err
	}
	return r.route.serve(s, r)
}

// A panicError is a panic while a request is handled.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// unrouted returns the result of a request without a route. OPTIONS needs no token:
// browsers send it without one before a request from another origin (CORS), and
// API Gateway or cmd/local adds the CORS headers.
func unrouted(r *request) (response, error) {
	allow := allowed(r.URL.Path)
	if allow == "" {
		if allowed(strings.TrimSuffix(r.URL.Path, "/")) != "" {
			return response{}, failf(codeUnknownPath, "no such path; leave out the slash at the end")
		}
		return response{}, failf(codeUnknownPath, "no such path")
	}
	header := map[string]string{"Allow": allow}
	if r.Method == http.MethodOptions {
		return response{status: http.StatusNoContent, header: header}, nil
	}
	return response{}, &publicError{codeMethod, "method not allowed; this path allows " + allow, header}
}

// send sends the response to r, with the headers of every response.
func send(w http.ResponseWriter, r *http.Request, resp response) {
	h := w.Header()
	for name, value := range resp.header {
		h.Set(name, value)
	}
	h.Set("X-Request-Id", logging.RequestID(r.Context()))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if resp.body == nil {
		w.WriteHeader(resp.status)
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(resp.status)
	w.Write(resp.body) // fails only if the client has disconnected
}

// encode returns v as a line of JSON. Strings are escaped only where JSON
// requires it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every string was validated as UTF-8
	}
	return append(b, '\n')
}

// Refuse responds to a request that is too malformed to reach the service, on behalf of package
// lambdahttp, which knows no error codes. It logs nothing.
func Refuse(w http.ResponseWriter, r *http.Request) {
	send(w, r, errorResponse(nil, failf(codeBadRequest,
		"malformed request; check the method and the query string, and send UTF-8")))
}

// logRequest writes the log line of a request. Internal errors appear only here.
func (s *Service) logRequest(r *request, resp response, err error, took time.Duration) {
	attrs := []slog.Attr{slog.String("method", excerpt.Truncate(r.Method))}
	if r.route != nil {
		attrs = append(attrs, slog.String("route", r.route.Method+" "+r.route.Pattern))
	} else {
		attrs = append(attrs, slog.String("route", "none"), slog.String("path", excerpt.Truncate(r.URL.EscapedPath())))
	}
	attrs = append(attrs,
		slog.Int("status", resp.status),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	)
	if r.caller.Subject != "" {
		attrs = append(attrs, slog.String("sub", r.caller.Subject))
	}
	if err != nil {
		attrs = append(attrs, slog.Int("error", int(resp.code)), slog.String("cause", err.Error()))
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	s.log.LogAttrs(r.Context(), logLevel(resp.status, err), "request", attrs...)
}

// logLevel returns the log level for a response with the given status, caused by err.
func logLevel(status int, err error) slog.Level {
	if status >= 500 && !errors.Is(err, auth.ErrKeysUnavailable) { // package auth warns about each failed fetch
		return slog.LevelError
	}
	return slog.LevelInfo
}
