// Package lambdatest runs the program of a Lambda function as Lambda does, on
// this machine: an [Environment] is the program with a Runtime API of its own,
// a [Function] is as many environments as there are invocations at once, and
// [HTTPAPI] is the API Gateway HTTP API in front. The program is the one that
// is deployed, unchanged.
//
// What is Lambda's behaviour and what is API Gateway's is said at each place
// with its source. Nothing but [Start] depends on package testing, so that
// other programs can measure a function by the same means.
package lambdatest

import (
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Start runs the function of o behind an HTTP API on this machine until the
// test ends, and returns it with the address of the API. The function isn't
// started before its first invocation, as on Lambda.
//
// At the end of the test it checks what must hold whatever the test did: there
// was no Lambda error (see [Function.Errors]).
func Start(tb testing.TB, o Options) (f *Function, base string) {
	tb.Helper()
	f = NewFunction(o)
	front := httptest.NewServer(&HTTPAPI{Function: f})
	tb.Cleanup(func() {
		front.Close()
		f.Close()
		for _, err := range f.Errors() {
			tb.Errorf("a Lambda error: %v\n%s%s", err, f.Stdout(), f.Stderr())
		}
	})
	return f, front.URL
}

// Build builds a program of this module the way it is deployed, but for this
// machine, and puts it into dir under the name that Lambda's runtime of the
// operating system alone demands. More flags of go build may be given.
func Build(dir, importPath string, flags ...string) (binary string, err error) {
	binary = filepath.Join(dir, "bootstrap")
	if runtime.GOOS == "windows" {
		binary += ".exe" // or else nothing runs it
	}
	args := append([]string{"build", "-o", binary, "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w"}, flags...)
	cmd := exec.Command("go", append(args, importPath)...)
	if len(flags) == 0 {
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0") // which the race detector doesn't take
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s could not be built: %w\n%s", importPath, err, out)
	}
	return binary, nil
}
