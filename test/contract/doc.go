// Package contract tests the service with what others generate from
// api/openapi.yaml: requests (schemathesis) and clients in Go and TypeScript.
//
// The tests take minutes and need Python 3.11 with its venv module and Node 20
// with npm, or later versions, so they have the build tag contract, which make
// contract sets. They download the tools themselves, at pinned versions.
package contract
