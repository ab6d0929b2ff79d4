// Package lambdalocal runs the program of a Lambda function as Lambda does, on
// this machine: an [Environment] is the program with a Runtime API of its own,
// a [Function] is as many environments as there are invocations at once, and
// [HTTPAPI] is the API Gateway HTTP API in front. The program is the one that
// is deployed, unchanged.
//
// What is Lambda's behaviour and what is API Gateway's is said at each place
// with its source. Nothing but [Start] depends on package testing, so that
// other programs can measure a function by the same means.
package lambdalocal

import (
	"net/http/httptest"
	"testing"

	"example.com/plantstore/test/tools"
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

// Build builds a program of this module, named by its folder, with the flags
// that it is deployed with, but for this machine.
func Build(program string) (binary string, err error) {
	return tools.Build(program, "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w")
}
