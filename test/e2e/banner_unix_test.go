//go:build unix

package e2e

import (
	"regexp"
	"testing"

	"example.com/plantstore/test/harness"
)

// The start-up messages work as printed: the page opens, and the command gets a token.
func TestBanner(t *testing.T) {
	t.Parallel()
	harness.Need(t, "sh", "curl")
	p := start(t, harness.Environ(), t.TempDir())
	command := p.Await(t, ` +(TOKEN=.*)\n`)[1]
	page := regexp.MustCompile(`try it in a browser: (.*)`).FindStringSubmatch(p.Stderr.String())
	if page == nil {
		t.Fatalf("no page in\n%s", p.Stderr.String())
	}
	if _, err := harness.Run("curl", "-sf", page[1]); err != nil {
		t.Error(err)
	}
	token, err := harness.Run("sh", "-c", command+`; printf %s "$TOKEN"`)
	if err != nil {
		t.Fatal(err)
	}
	newClient(p.target(), token).expectList(t, 200)
}

// -help is no error.
func TestHelp(t *testing.T) {
	t.Parallel()
	if p := harness.LaunchServer(t, harness.Environ(), t.TempDir(), "-help"); p.Wait() != 0 {
		t.Errorf("exit code %d:\n%s", p.Wait(), p.Stderr.String())
	}
}
