package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A health check costs a read of the store each second at most, takes two seconds at
// most, and says nothing about the cause. A client that disconnects changes nothing.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, result := 0, func(context.Context) error { return nil }
		h := &health{log: slog.New(slog.DiscardHandler), next: http.NotFoundHandler(), read: func(ctx context.Context) error {
			reads++
			return result(ctx)
		}}
		get := func(method, path string, wantStatus, wantReads int, wantBody string) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, nil))
			if body := w.Body.String(); w.Code != wantStatus || reads != wantReads || !strings.HasPrefix(body, wantBody) || strings.Contains(body, "disk") {
				t.Errorf("%s %s: %d %q after %d reads; want %d %q and %d", method, path, w.Code, body, reads, wantStatus, wantBody, wantReads)
			}
		}
		get("GET", "/healthz", 200, 1, "ok\n")
		get("HEAD", "/healthz", 200, 1, "")
		get("POST", "/healthz", 404, 1, "")
		get("GET", "/healthz/", 404, 1, "")
		result = func(context.Context) error { return errors.New("disk 7 on fire") }
		time.Sleep(time.Second)
		get("GET", "/healthz", 503, 2, `{"error":50300,"message":"`)
		get("GET", "/healthz", 503, 2, "")
		result = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		time.Sleep(time.Second)
		start := time.Now()
		get("GET", "/healthz", 503, 3, "")
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("a store that doesn't respond: after %v, want 2s", took)
		}
	})
}
