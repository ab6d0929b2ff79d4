//go:build unix

package template

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

// make build builds for the processor that the template names, whatever variables are exported
// for other work, without libraries, and gives each build a revision.
func TestBuild(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "go")
	began := time.Now().Truncate(time.Second)
	cmd := Python(t)
	cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", "make build"}, CopySource(t)
	cmd.Env = append(cmd.Env, "GOARCH=amd64", "FUNCTION_ARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bootstrap, err := elf.Open(filepath.Join(cmd.Dir, ".aws-sam/build", function, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	defer bootstrap.Close()
	libraries, err := bootstrap.ImportedLibraries()
	if bootstrap.Machine != elf.EM_AARCH64 || len(libraries) > 0 || err != nil {
		t.Errorf("the function is built for %v and needs the libraries %v, %v; want arm64 and none",
			bootstrap.Machine, libraries, err)
	}
	text, err := os.ReadFile(filepath.Join(cmd.Dir, ".aws-sam/build/template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := do(t, job{Template: string(text)})
	if got := str(s.Resources[function].Properties, "Architectures"); got != `["arm64"]` {
		t.Errorf("template.yaml: the function runs on %s, but the Makefile builds it for arm64", got)
	}
	revision := str(s.Outputs["Revision"], "Value")
	commit, at, _ := strings.Cut(revision, ".")
	built, err := time.Parse("060102150405", at)
	if err != nil || built.Before(began) || built.After(time.Now()) || commit != "unknown" || // the copy has no repository
		!strings.HasPrefix(s.description(), revision+"|") {
		t.Errorf("the build has the revision %q, and its version the description %q; "+
			"want unknown and the time in both, so that each build makes another version", revision, s.description())
	}
}
