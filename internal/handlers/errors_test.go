package handlers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// A faultyStore fails every call as fail says.
type faultyStore struct {
	plants.Store
	fail func(context.Context) error
}

func (s faultyStore) Create(ctx context.Context, _ string, _ plants.Plant, _ plants.IdempotencyKey) error {
	return s.fail(ctx)
}

func (s faultyStore) List(ctx context.Context, _ string, _ plants.Query) (plants.Page, error) {
	return plants.Page{}, s.fail(ctx)
}

func (s faultyStore) Delete(ctx context.Context, _ string, _ int64) error { return s.fail(ctx) }

// TestFaults requires the Error shape for every error of a store. Only the log
// has the internal text.
func TestFaults(t *testing.T) {
	wrapping := func(errs ...error) func(context.Context) error {
		return func(context.Context) error { return fmt.Errorf("secret: %w", errors.Join(errs...)) }
	}
	for _, test := range []struct {
		name  string
		fail  func(context.Context) error
		code  Code
		level string
	}{
		{"throttled", wrapping(plants.ErrThrottled), CodeUnavailable, "ERROR"},
		{"unreachable", wrapping(plants.ErrUnreachable), CodeUnavailable, "ERROR"},
		{"unwritable", wrapping(plants.ErrUnwritable), CodeUnavailable, "ERROR"},
		{"unknown", wrapping(errors.New("error")), CodeInternal, "ERROR"},
		{"panic", func(context.Context) error { panic("secret") }, CodeInternal, "ERROR"},
		{"nil pointer", func(context.Context) error { var p *plants.Plant; p.Name = "x"; return nil }, CodeInternal, "ERROR"},
		{"timeout", wrapping(context.DeadlineExceeded), CodeTimeout, "ERROR"},
		{"timeout after throttling", wrapping(plants.ErrThrottled, context.DeadlineExceeded), CodeTimeout, "ERROR"},
		{"canceled", wrapping(context.Canceled), CodeTimeout, "INFO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, faultyStore{fail: test.fail})
			for _, req := range [][]string{
				{"POST", "/plants", `{"id":1,"name":"Basil"}`}, {"GET", "/plants", ""}, {"DELETE", "/plants/1", ""},
			} {
				a := s.do(t, req[0], req[1], req[2])
				if code := a.error(t); code != test.code {
					t.Errorf("%v: error %d, want %d", req, code, test.code)
				}
				if strings.Contains(a.body, "secret") {
					t.Errorf("%v: the response reveals an internal error: %s", req, a.body)
				}
				if got := a.header.Get("Retry-After"); (got != "") != (a.status == 503) {
					t.Errorf("%v: status %d with Retry-After %q", req, a.status, got)
				}
				line := s.log.one(t)
				cause, _ := line["cause"].(string)
				if line["level"] != test.level || cause == "" || test.name != "nil pointer" && !strings.Contains(cause, "secret") {
					t.Errorf("%v: wrong level or cause in the log: %v", req, line)
				}
				_, isPanic := line["stack"]
				if isPanic != (test.name == "panic" || test.name == "nil pointer") {
					t.Errorf("%v: stack in the log: %v", req, isPanic)
				}
			}
		})
	}
}
