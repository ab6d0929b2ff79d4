// Package lambdalocal runs the program of a Lambda function on this machine as
// Lambda does. An [Environment] is one process of the program with its own
// Runtime API, a [Function] is as many environments as there are concurrent
// invocations, and an [HTTPAPI] is the API Gateway HTTP API in front of it. The
// program is the one that gets deployed, unchanged.
//
// Comments give the source of each behaviour of Lambda and API Gateway. Only
// [Start] and [Package] use package testing; programs such as test/coldstart use
// the rest.
package lambdalocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/plantstore/test/tools"
)

// Start runs a function behind an HTTP API until the test ends. It returns the
// function and the address of the API. As on Lambda, the first process starts
// with the first invocation.
//
// When the test ends, Start fails it if there was a Lambda error (see
// [Function.Errors]).
func Start(tb testing.TB, o Options) (f *Function, base string) {
	tb.Helper()
	f = NewFunction(o)
	front := httptest.NewServer(&HTTPAPI{Invoke: f.Invoke, CORS: o.CORS})
	tb.Cleanup(func() {
		front.Close()
		f.Close()
		for _, err := range f.Errors() {
			tb.Errorf("Lambda error: %v\n%s%s", err, f.Stdout(), f.Stderr())
		}
	})
	return f, front.URL
}

// Build builds a program of this module for this machine, with the given flags of
// go build and those that it gets deployed with. The program is the path of its
// folder, such as "cmd/lambda".
func Build(program string, flags ...string) (binary string, err error) {
	return tools.Build(program, append(flags, "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w")...)
}

// BuildForAWS builds cmd/lambda like [Build], with two additions to package
// awsroots: the host 127.0.0.1 is one of AWS, and root, a PEM certificate, one of
// its roots.
func BuildForAWS(root []byte) (binary string, err error) {
	top, err := tools.Root()
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
	return Build("cmd/lambda", "-overlay", overlay)
}

// Package builds a function of template.yaml as sam build does by default: by the
// Makefile, for arm64. It returns options that run the program, with QEMU's user
// mode emulation on machines with another processor. Without that, or without
// make, the test is skipped; see [tools.Missing].
func Package(tb testing.TB, function string) Options {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("needs Linux")
	}
	tools.Need(tb, "make")
	var emulator string
	if runtime.GOARCH != "arm64" {
		emulator = "qemu-aarch64"
		tools.Need(tb, emulator)
	}
	root, err := tools.Root()
	if err != nil {
		tb.Fatal(err)
	}
	if err := tools.DependOn("api", "cmd", "internal"); err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if out, err := exec.CommandContext(tb.Context(), "make", "-C", root, "build-"+function, "ARTIFACTS_DIR="+dir).CombinedOutput(); err != nil {
		tb.Fatalf("make build-%s: %v\n%s", function, err, out)
	}
	return Options{Binary: filepath.Join(dir, "bootstrap"), Emulator: emulator}
}
