// Package lambdalocal runs the program of a Lambda function on this machine, as
// Lambda would. An [Environment] is a process of the program with its own Runtime
// API, and an [HTTPAPI] is the API Gateway HTTP API in front of it.
package lambdalocal

import (
	"context"
	"net/http/httptest"
	"testing"
)

// Start runs a function behind an HTTP API until the test ends. It returns the
// function and the address of the API. A Lambda error fails the test.
func Start(tb testing.TB, o Options) (e *Environment, base string) {
	tb.Helper()
	e, err := NewEnvironment(o)
	if err != nil {
		tb.Fatal(err)
	}
	front := httptest.NewServer(HTTPAPI(func(ctx context.Context, payload []byte) ([]byte, error) {
		response, err := e.Invoke(ctx, payload)
		if err != nil {
			tb.Errorf("Lambda error: %v\n%s%s", err, e.Stdout.String(), e.Stderr.String())
		}
		return response, err
	}))
	tb.Cleanup(front.Close)
	tb.Cleanup(e.Close) // first, since an invocation may hang
	return e, front.URL
}
