// Package contract tries api/openapi.yaml on what its readers will use it with:
// a tester that makes up requests from it (schemathesis), and clients that are
// generated from it, in Go and in TypeScript.
//
// Its tests bring tools of other languages and take minutes, so they are built
// with the tag contract alone, which make contract does. They need Python 3.11
// or later with its venv module, and Node 20 or later with npm; with anything
// missing they fail. The tools themselves they bring, at pinned versions.
package contract
