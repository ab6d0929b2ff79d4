// Package e2e is the acceptance suite: what a client may rely on over HTTP,
// wherever the service runs. Most of it is scripts in testdata, which can be
// read without knowing Go; their README describes the format. To extend the
// suite, add a script.
//
// The tests run the suite against the plain server and the Lambda function behind
// a local HTTP API, and one script against sam local. TestDeployment runs it against
// a deployment: see "make acceptance".
package e2e

import (
	"testing"
	"time"
)

// A Target is a running service to test.
type Target struct {
	Base string // the base address, without a trailing slash

	// Token returns an access token, or skips or fails the test.
	Token func(tb testing.TB, r TokenRequest) string

	// Subjects, if not nil, lists the only users that Token knows. The parts
	// of the suite then run one after another, each removes what it has created,
	// and those that need more users are skipped. If Subjects is nil, each part
	// has users of its own, and the parts run in parallel.
	Subjects []string

	Lag time.Duration // how long a list may show an earlier state

	// Gateway says that API Gateway is in front. It may respond to OPTIONS itself, and add
	// headers to 204. The suite then tries neither OPTIONS nor the exceptions.
	Gateway bool

	// Exceptions maps what the target's front, such as an HTTP API, can't pass on to
	// the reason: either a part of the suite, such as "auth-expired", which is
	// skipped, or an exchange by the name of its script and either its comment or
	// its row, such as "routes: /plants%23", which must fail, so that stale
	// exceptions are noticed.
	Exceptions map[string]string
}

// A TokenRequest describes an access token.
type TokenRequest struct {
	Subject string // printable ASCII
	Scopes  string // separated by spaces; if empty, the token allows everything
	Expired bool   // for longer than any leeway
}
