//go:build issuers

package issuers

import (
	_ "embed"
	"net/http"
	"os/exec"
	"testing"

	"example.com/plantstore/test/tools"
)

// start starts a command, and returns the first group of the first match of
// ready in its output. The process ends with the test.
func start(t *testing.T, cmd *exec.Cmd, ready string) string {
	t.Helper()
	p, err := tools.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p.Await(t, ready)[1]
}

// cached returns a directory of the cache; see [tools.Dir].
func cached(t *testing.T, name string, recipe []byte, fill func(dir string) error) string {
	t.Helper()
	dir, err := tools.Dir(name, recipe, fill)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

//go:embed python/requirements.txt
var requirements []byte

// python returns a Python with the packages of requirements.txt.
func python(t *testing.T) string {
	t.Helper()
	python, err := tools.Python("issuers-python", requirements)
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// post sends an empty POST.
func post(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Post(url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s", url, resp.Status)
	}
}
