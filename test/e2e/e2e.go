// Package e2e is the acceptance suite: what a client may rely on over HTTP,
// wherever the service runs. Most of it is scripts in testdata, which can be
// read without knowing Go; script.go describes their format. To extend the
// suite, add a script.
//
// The tests run the suite against the plain server, the Lambda function behind
// a local HTTP API, and sam local. TestDeployment runs it against a deployment:
// see "make acceptance".
package e2e

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Target is a running service to test.
type Target struct {
	// Base is the base address of the service, without a trailing slash.
	Base string

	// Token returns an access token. If it can't provide one, it skips or
	// fails the test.
	Token func(tb testing.TB, r TokenRequest) string

	// Subjects, if not nil, lists the only users that Token knows. The parts
	// of the suite then share them and run one after another, and those that
	// need more users are skipped. If Subjects is nil, each part has users of
	// its own, and the parts run in parallel.
	Subjects []string

	// Lag is how long a list may show an earlier state. An unexpected list is
	// requested again until then.
	Lag time.Duration

	// Exceptions maps what can't pass on this target to the reason: either a
	// part of the suite by the name of its subtest, "auth-expired", or a single
	// exchange by the name of its script and either its comment or its row,
	// "routes: /plants%23". Such a part is skipped. Such an exchange must fail,
	// so that stale exceptions are noticed.
	Exceptions map[string]string

	// Amend, if not nil, corrects an answer that the front of the service has
	// changed.
	Amend func(answer *http.Response)

	// Check, if not nil, returns an error if a request and its answer must not
	// occur. The URL of the request is relative to Base, and nil if it can't be
	// parsed.
	Check func(r *http.Request, body []byte, answer *http.Response, answerBody []byte) error
}

// A TokenRequest describes an access token.
type TokenRequest struct {
	Subject string   // printable ASCII
	Scopes  []string // if empty, the token allows everything
	Expired bool     // for longer than any leeway
}

// Run runs the suite. Its parts are subtests that don't depend on one another
// and remove the plants that they create.
func Run(t *testing.T, target Target) {
	c := newClient(target)
	defer c.transport.CloseIdleConnections()
	parts := map[string]func(*testing.T){"long-list": func(t *testing.T) { longList(t, c) }}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || files == nil {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScript(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		parts[s.name] = func(t *testing.T) { s.run(t, c) }
	}
	t.Run("suite", func(t *testing.T) { // waits for its parallel subtests
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			t.Run(name, func(t *testing.T) {
				if reason := target.Exceptions[name]; reason != "" {
					t.Skip(reason)
				}
				if target.Subjects == nil {
					t.Parallel()
				}
				parts[name](t)
			})
		}
	})
}
