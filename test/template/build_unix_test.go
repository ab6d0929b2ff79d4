//go:build unix

package template

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

// make build builds for the processor that the template names, without libraries, and gives each
// build a revision, whatever people export for other work. Lambda's user can run the function.
func TestBuild(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "go")
	began := time.Now().Truncate(time.Second)
	cmd := Python(t)
	cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", "umask 077; make build"}, CopySource(t)
	cmd.Env = append(cmd.Env, "GOARCH=amd64", "FUNCTION_ARCH=amd64", "GOFLAGS=-buildmode=pie", "GOEXPERIMENT=jsonv2",
		"GOFIPS140=latest", "GOARM64=v9.0", "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bootstrap := filepath.Join(cmd.Dir, ".aws-sam/build", function, "bootstrap")
	info, err := buildinfo.ReadFile(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	settings := ""
	for _, s := range info.Settings {
		if s.Key != "DefaultGODEBUG" { // it depends on the Go release
			settings += " " + s.Key + "=" + s.Value
		}
	}
	const want = " -buildmode=exe -compiler=gc -tags=lambda.norpc -trimpath=true" +
		" CGO_ENABLED=0 GOARCH=arm64 GOOS=linux GOARM64=v8.0"
	if settings != want {
		t.Errorf("the function is built with the settings\n%s, want\n%s", settings, want)
	}
	file, err := os.Stat(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	if file.Mode() != 0o755 {
		t.Errorf("the function has the mode %v, want 0755, since Lambda runs it as another user", file.Mode())
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
