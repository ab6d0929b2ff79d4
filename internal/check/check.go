// Package check tells whether the parts that a running function depends on work:
// before a new version of it gets traffic, and whenever an operator asks.
//
// An invocation with the payload [Event] asks for a check and gets a [Report]. It
// takes permission to invoke the function itself (IAM). Clients of an HTTP API or
// a function URL can't ask: the event of an HTTP request always has other members.
package check

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/lambdahttp"
)

// Event is the payload that asks for a check.
const Event = `{"check": true}`

// A Report is the result of a check.
type Report struct {
	// OK is true if all parts work.
	OK bool `json:"ok"`

	// Parts has "ok" or the reason of the failure, for each part.
	Parts map[string]string `json:"parts"`
}

// Parts are functions that return an error if the named part doesn't work. The
// text of the error is sent to the caller, so it must not contain secrets.
type Parts map[string]func(context.Context) error

// Handler returns a handler that checks the parts, all at the same time, if the
// payload asks for it, and logs the report. It leaves all other invocations to
// next.
func Handler(parts Parts, log *slog.Logger, next lambda.Handler) lambda.Handler {
	return handler{parts, log, next}
}

type handler struct {
	parts Parts
	log   *slog.Logger
	next  lambda.Handler
}

// Invoke implements [lambda.Handler].
func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if !asks(payload) {
		return h.next.Invoke(ctx, payload)
	}
	ctx, cancel := lambdahttp.WithInvocation(ctx)
	defer cancel()
	report := h.parts.check(ctx)
	level := slog.LevelInfo
	if !report.OK {
		level = slog.LevelError
	}
	h.log.Log(ctx, level, "check", "parts", report.Parts)
	// Errors may quote a server's bytes.
	return json.Marshal(report, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// asks reports whether payload is an object whose only member is a true check.
func asks(payload []byte) bool {
	var event map[string]bool
	return json.Unmarshal(payload, &event) == nil && maps.Equal(event, map[string]bool{"check": true})
}

func (p Parts) check(ctx context.Context) Report {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		report = Report{OK: true, Parts: map[string]string{}}
	)
	for name, works := range p {
		group.Go(func() {
			err := works(ctx)
			mu.Lock()
			defer mu.Unlock()
			report.Parts[name] = "ok"
			if err != nil {
				report.OK, report.Parts[name] = false, err.Error()
			}
		})
	}
	group.Wait()
	return report
}
