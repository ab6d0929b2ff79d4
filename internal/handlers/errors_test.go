package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants"
)

// faultyStore fails as it is told, which a real store won't do on demand.
type faultyStore struct {
	plants.Store
	fail func(context.Context) error
}

func (s faultyStore) Create(ctx context.Context, _ string, _ plants.Plant, _ plants.WriteToken) error {
	return s.fail(ctx)
}

func (s faultyStore) List(ctx context.Context, _ string, _ plants.Query) (plants.Page, error) {
	return plants.Page{}, s.fail(ctx)
}

func (s faultyStore) Delete(ctx context.Context, _ string, _ int64) error { return s.fail(ctx) }

// TestDescribe holds the table of failures to what the contract says of each
// error that another package can return, wrapped as it comes.
func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		err    error
		code   Code
		header http.Header
	}{
		{plants.ErrInUse, CodeInUse, nil},
		{plants.ErrTokenReused, CodeKeyReused, nil},
		{plants.ErrNotFound, CodeNotFound, nil},
		{plants.ErrThrottled, CodeUnavailable, http.Header{"Retry-After": {"1"}}},
		{plants.ErrUnreachable, CodeUnavailable, http.Header{"Retry-After": {"1"}}},
		{auth.ErrKeysUnavailable, CodeUnavailable, http.Header{"Retry-After": {"5"}}},
		{auth.ErrNoToken, CodeNoToken, http.Header{"Www-Authenticate": {`Bearer realm="plants"`}}},
		{auth.ErrInvalidToken, CodeInvalidToken, http.Header{"Www-Authenticate": {`Bearer realm="plants", error="invalid_token"`}}},
		{auth.ErrExpiredToken, CodeExpiredToken, http.Header{"Www-Authenticate": {`Bearer realm="plants", error="invalid_token"`}}},
		{context.DeadlineExceeded, CodeTimeout, nil},
		{context.Canceled, CodeTimeout, nil},
		{fmt.Errorf("%w: %w", plants.ErrThrottled, context.DeadlineExceeded), CodeTimeout, nil},
		{errors.New("secret"), CodeInternal, nil},
		{&panicError{value: "secret"}, CodeInternal, nil},
	} {
		f := describe(fmt.Errorf("secret: %w", test.err))
		if f.code != test.code {
			t.Errorf("%v has code %d, want %d", test.err, f.code, test.code)
		}
		if strings.Contains(f.message, "secret") || f.message == "" {
			t.Errorf("%v: the client is told %q", test.err, f.message)
		}
		for name := range test.header {
			if got, want := f.header.Get(name), test.header.Get(name); got != want {
				t.Errorf("%v: header %s is %q, want %q", test.err, name, got, want)
			}
		}
	}
}

// Whatever the store's fault: the client gets the Error shape, without the
// internal text, and the operator finds that text in the log, once.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		fail  func(context.Context) error
		code  Code
		level string
	}{
		{"throttled", func(context.Context) error { return fmt.Errorf("secret: %w", plants.ErrThrottled) }, CodeUnavailable, "ERROR"},
		{"unreachable", func(context.Context) error { return fmt.Errorf("secret: %w", plants.ErrUnreachable) }, CodeUnavailable, "ERROR"},
		{"unknown", func(context.Context) error { return errors.New("secret") }, CodeInternal, "ERROR"},
		{"panic", func(context.Context) error { panic("secret") }, CodeInternal, "ERROR"},
		{"nil pointer", func(context.Context) error { var p *plants.Plant; p.Name = "secret"; return nil }, CodeInternal, "ERROR"},
		{"out of time", func(context.Context) error { return fmt.Errorf("secret: %w", context.DeadlineExceeded) }, CodeTimeout, "ERROR"},
		{"cancelled", func(context.Context) error { return fmt.Errorf("secret: %w", context.Canceled) }, CodeTimeout, "INFO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, faultyStore{fail: test.fail})
			for _, req := range [][]string{
				{"POST", "/plants", `{"id":1,"name":"Basil"}`}, {"GET", "/plants", ""}, {"DELETE", "/plants/1", ""},
			} {
				a := s.do(t, req[0], req[1], req[2])
				if code, _ := a.error(t); code != test.code {
					t.Errorf("%v: error %d, want %d", req, code, test.code)
				}
				if strings.Contains(a.body, "secret") {
					t.Errorf("%v: the client is told %s", req, a.body)
				}
				if got := a.header.Get("Retry-After"); (got != "") != (a.status == 503) {
					t.Errorf("%v: status %d with Retry-After %q", req, a.status, got)
				}
				line := s.log.one(t)
				cause, _ := line["cause"].(string)
				if line["level"] != test.level || cause == "" || test.name != "nil pointer" && !strings.Contains(cause, "secret") {
					t.Errorf("%v: the operator finds %v", req, line)
				}
				_, isPanic := line["stack"]
				if isPanic != (test.name == "panic" || test.name == "nil pointer") {
					t.Errorf("%v: stack in the log: %v", req, isPanic)
				}
			}
		})
	}
}

// The time of a request ends by itself, and soon enough for the answer to
// leave before API Gateway's.
func TestRequestTimeout(t *testing.T) {
	deadlines := make(chan time.Duration, 1)
	s := newServer(t, faultyStore{fail: func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		if !ok {
			return errors.New("no deadline")
		}
		deadlines <- time.Until(deadline)
		return nil
	}})
	if a := s.do(t, "DELETE", "/plants/1", ""); a.status != http.StatusNoContent {
		t.Fatal(a)
	}
	if left := <-deadlines; left > requestTimeout || left < requestTimeout-5*time.Second {
		t.Errorf("the store was given %v, want %v at most", left, requestTimeout)
	}

	// A front's shorter deadline counts.
	service := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
		defer cancel()
		service.ServeHTTP(w, r.WithContext(ctx))
	})
	slow := newServer(t, faultyStore{fail: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
	service = slow.Config.Handler
	slow.Config.Handler = s.Config.Handler
	if code, _ := slow.do(t, "GET", "/plants", "").error(t); code != CodeTimeout {
		t.Errorf("error %d, want %d", code, CodeTimeout)
	}
}
