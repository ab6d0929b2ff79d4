// Package lambdalocal runs the program of a Lambda function on this machine as
// Lambda does. An [Environment] is a process of the program with its own Runtime
// API, and an [HTTPAPI] is the API Gateway HTTP API in front of it.
package lambdalocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"example.com/plantstore/test/harness"
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

// BuildForAWS builds cmd/lambda with the given flags of go build and two additions
// to package awsroots: the host 127.0.0.1 is one of AWS, and root, a PEM
// certificate, one of its roots.
func BuildForAWS(root []byte, flags ...string) (binary string, err error) {
	top, err := harness.Root()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	const code = "package awsroots\n\nfunc init() { suffixes, bundle = append(suffixes, \"127.0.0.1\"), append(bundle, %q...) }\n"
	added, overlay := filepath.Join(dir, "added.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(top, "internal/awsroots/added.go"): added}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(added, fmt.Appendf(nil, code, root), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	return harness.Build("cmd/lambda", append(flags, "-overlay", overlay)...)
}
