// Package handlers is the HTTP side of the service: one [http.Handler] with
// the routes of the plants, the same on every front that it is served by.
//
// A request's way: [Service.ServeHTTP] finds its route, checks its token, runs
// the route's function in plants.go, and sends and logs what that returns. All
// answers leave in one place, so each has its headers, its Error shape and its
// log line, whatever happened.
package handlers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
)

// requestTimeout is the time that a request may take where its context gives
// it no less: API Gateway waits for the function's 10 s, and the answer that
// says so needs a moment to travel.
const requestTimeout = 9500 * time.Millisecond

// A Service answers the requests of the plant store. It is safe for concurrent
// use.
type Service struct {
	store  plants.Store
	tokens *auth.Verifier
	log    *slog.Logger
}

// New returns the service that keeps plants in store, lets in the callers whose
// tokens pass, and logs one line per request.
func New(store plants.Store, tokens *auth.Verifier, log *slog.Logger) *Service {
	return &Service{store, tokens, log}
}

// request is a request on its way through the service, and what is known of it.
type request struct {
	*http.Request
	route  *Route // nil if there is none
	id     string // the last segment of the path, where the route has an {id}
	caller auth.Caller
}

// response is a success. Failures are errors, see errors.go.
type response struct {
	status int
	link   string // the Link header, if any
	body   []byte // JSON, or nil for none
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(identified(r.Context()), requestTimeout)
	defer cancel()
	req := &request{Request: r.WithContext(ctx)}
	resp, err := s.answer(w, req)
	status := send(w, resp, err)
	s.logRequest(req, status, err, time.Since(start))
}

// identified gives the log lines of ctx a request id, unless the front that
// received the request did.
func identified(ctx context.Context) context.Context {
	for _, a := range logging.Attrs(ctx) {
		if a.Key == logging.RequestID {
			return ctx
		}
	}
	return logging.With(ctx, slog.String(logging.RequestID, rand.Text()))
}

// answer checks what every request is checked for, in this order: route,
// method, token, scope. Then it runs the route, whose panic is an error like
// any other.
func (s *Service) answer(w http.ResponseWriter, r *request) (resp response, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	if err := r.match(); err != nil {
		return response{}, err
	}
	if r.caller, err = s.tokens.Authenticate(r.Context(), r.Header); err != nil {
		return response{}, err
	}
	if !r.caller.Allows(r.route.Scope) {
		return response{}, scopeError(r.route.Scope)
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	return r.route.serve(s, r)
}

// panicError is a panic of a request, with the stack it came from.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// logRequest writes the one line of a request. Only here do internal errors
// come to light.
func (s *Service) logRequest(r *request, status int, err error, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("method", truncate(r.Method)),
		slog.String("route", r.route.String()),
		slog.Int("status", status),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if r.caller.Subject != "" {
		attrs = append(attrs, slog.String("sub", r.caller.Subject))
	}
	level := slog.LevelInfo
	if err != nil {
		attrs = append(attrs, slog.Int("error", int(describe(err).code)), slog.String("cause", err.Error()))
		// A client that went away is no fault of the service.
		if status >= 500 && !errors.Is(err, context.Canceled) {
			level = slog.LevelError
		}
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	s.log.LogAttrs(r.Context(), level, "request", attrs...)
}
