// Package e2e is the acceptance suite of the service, over HTTP: what a client
// may rely on, wherever the service runs. Most of it is scripts in testdata,
// which can be read without knowing Go; their form is described in script.go.
package e2e

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"
)

// A Target is a running service to test, and all that the suite knows of it.
type Target struct {
	// Base is the address that the paths of the service are relative to,
	// without a slash at its end.
	Base string

	// Token returns an access token. It fails the test if there is none to be
	// had.
	Token func(tb testing.TB, r TokenRequest) string

	// Lag is how long a list may show what was before the last write. A list
	// that isn't as expected is asked for again until then.
	Lag time.Duration

	// Lacks says which parts of the suite can't pass, each with the reason. A
	// part that is named like its subtest, "auth-expired", is not run. Single
	// exchanges of a script are named by its name and either their comment or
	// the line of their table, "routes: /plants%23". They are run, and must
	// fail: a reason that no longer holds is to go.
	Lacks map[string]string

	// Amend, if not nil, takes from an answer what the front of the service has
	// added to it that no answer may have.
	Amend func(answer *http.Response)

	// Observe, if not nil, is shown each request and its answer, with their
	// bodies. The URL of the request is nil if it doesn't parse.
	Observe func(tb testing.TB, r *http.Request, body []byte, answer *http.Response, answerBody []byte)
}

// A TokenRequest says what a token must be like.
type TokenRequest struct {
	Subject string   // printable ASCII
	Scopes  []string // those that the token names; if empty, the token is good for everything
	Expired bool     // by more than any leeway
}

//go:embed testdata/*.txt
var testdata embed.FS

// checks are the parts of the suite that scripts can't say.
var checks = map[string]func(*testing.T, *client){
	"concurrent-creates": concurrentCreates,
	"long-list":          longList,
	"random-order":       randomOrder,
}

// Run runs the suite. Its parts are subtests, which run in parallel, share
// nothing, and remove the plants that they made.
func Run(t *testing.T, target Target) {
	c := newClient(target)
	defer c.transport.CloseIdleConnections()
	parts := map[string]func(*testing.T){}
	exchanges := map[string]bool{}
	for _, s := range scripts(t) {
		parts[s.name] = func(t *testing.T) { s.run(t, c) }
		for _, name := range s.exchangeNames() {
			exchanges[name] = true
		}
	}
	for name, check := range checks {
		parts[name] = func(t *testing.T) { check(t, c) }
	}
	for name := range target.Lacks {
		if parts[name] == nil && !exchanges[name] {
			t.Errorf("the target lacks %q, which is no part of the suite", name)
		}
	}
	t.Run("suite", func(t *testing.T) { // which ends when all its parts have
		for name, part := range parts {
			t.Run(name, func(t *testing.T) {
				if reason := target.Lacks[name]; reason != "" {
					t.Skip(reason)
				}
				t.Parallel()
				part(t)
			})
		}
	})
}

func scripts(t *testing.T) (all []script) {
	names, err := fs.Glob(testdata, "testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range names {
		text, err := testdata.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScript(strings.TrimSuffix(path.Base(name), ".txt"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}
