package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// If the system refuses a larger memory map, the program ends with one line. Started again, it has
// every plant whose create was answered.
func TestLostMap(t *testing.T) {
	t.Parallel()
	harness.Need(t, "strace")
	binary, err := harness.Build("cmd/local")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data, moved := filepath.Join(dir, "data"), filepath.Join(dir, "moved")
	cmd := exec.Command("strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", filepath.Join(moved, "plants.db"),
		"-e", "inject=mmap:error=ENOMEM", binary, "-addr", "127.0.0.1:0", "-data", data)
	cmd.Env = harness.Environ()
	p, err := harness.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	traced := &server{&plainserver.Server{Process: p, Base: p.Await(t, `(?m)^listening on (http://\S+)`)[1]}}
	alice := traced.user(t, "alice")
	if err := os.Rename(data, moved); err != nil { // from now on, maps of the file are refused
		t.Fatal(err)
	}
	var created []plants.Plant
	for id := range int64(1000) {
		basil := plantstest.Example(id)
		resp, _, err := alice.Do("POST", "/plants").Body(plantstest.CreateJSON(basil)).Send()
		if err != nil { // the program has ended
			break
		}
		if resp.StatusCode == 200 {
			created = append(created, basil)
		}
		if id == 999 {
			t.Fatal("the program goes on")
		}
	}
	code := p.Wait()
	want := regexp.MustCompile(`\nplantstore: the data file ` + data + `/plants.db .* cannot allocate memory: start .*\n$`)
	if text := p.Stderr.String(); code != 1 || !want.MatchString(text) {
		t.Errorf("exit code %d, want 1 and the reason:\n%s", code, text)
	}
	start(t, harness.Environ(), moved).user(t, "alice").Owns(created...)
}
