package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/logging"
)

// healthPath is where the program says whether it and its store work. It is for
// operators, so api/openapi.yaml doesn't have it. A deployment doesn't have it either,
// since anybody could cause paid invocations with it.
const healthPath = "/healthz"

const (
	healthWait = 2 * time.Second // limits the read of the store
	healthAge  = time.Second     // how long a result counts: anybody can ask, as often as they like
)

// A health responds to GET and HEAD of healthPath without asking for a token: 200 if the
// store can be read, or else 503. It passes all other requests to next.
type health struct {
	read func(context.Context) error // reads the store
	log  *slog.Logger
	next http.Handler

	mu      sync.Mutex // held while the store is read
	checked time.Time
	err     error // of the last check
}

// ServeHTTP implements [http.Handler].
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.EscapedPath() != healthPath || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.next.ServeHTTP(w, r)
		return
	}
	r = r.WithContext(logging.WithRequestID(r.Context(), rand.Text()))
	if h.check(r.Context()) != nil {
		w.Header().Set("Retry-After", "1")
		handlers.Fail(w, r, handlers.CodeUnavailable, "the storage can't be read; the log has the cause")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write([]byte("ok\n")) // fails only if the client has disconnected
}

// check reads the store, at most once in healthAge.
func (h *health) check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.checked) < healthAge {
		return h.err
	}
	// Others get this result too, so it doesn't depend on whether this client waits.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthWait)
	defer cancel()
	h.err = h.read(ctx)
	h.checked = time.Now()
	if h.err != nil {
		h.log.ErrorContext(ctx, "health check", "cause", h.err.Error())
	}
	return h.err
}
