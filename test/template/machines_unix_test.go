//go:build unix

package template

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// shell runs a script of sh, and returns what it prints.
func shell(t *testing.T, dir, script string, env ...string) (stdout, stderr string) {
	t.Helper()
	if err := harness.DependOn("Makefile", ".ci", "test/contract", "test/e2e"); err != nil { // the scripts
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Dir, cmd.Env = dir, harness.Environ(append(env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		t.Fatalf("%s\n%v\n%s%s", script, failed, &out, &err)
	}
	return strings.TrimSpace(out.String()), err.String()
}

// The revision names the commit if git tracks the folder. If git can't tell, it says why.
func TestRevision(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "git")
	dir := t.TempDir()
	shell(t, "../..", `
		for folder in zip other/zip mono/plants changed; do
			mkdir -p "$DIR/$folder/test/contract"
			cp Makefile "$DIR/$folder"
			cp test/contract/compat.sh "$DIR/$folder/test/contract"
		done
		commit="git -c user.name=test -c user.email=test@example.com commit --quiet --allow-empty --message test"
		cd "$DIR/other" && git init --quiet && $commit
		for folder in mono changed; do
			cd "$DIR/$folder" && git init --quiet && git add . && $commit
		done
		touch new`, "DIR="+dir)
	for _, test := range []struct{ folder, env, want, says string }{
		{"zip", "", `unknown`, ``},
		{"other/zip", "", `unknown`, ``}, // in a repository of other things
		{"mono/plants", "", `[0-9a-f]{7}`, ``},
		{"changed", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=status.showUntrackedFiles GIT_CONFIG_VALUE_0=no",
			`[0-9a-f]{7}\+`, ``},
		{"mono/plants", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", `unknown`, `(?s).*safe\.directory.*`},
	} {
		got, says := shell(t, filepath.Join(dir, test.folder), `make -s -f - revision <<'END'
include Makefile
revision: ; @echo '$(REVISION)'
END`, strings.Fields(test.env)...)
		if want := test.want + `\.\d{12}\n` + test.says; !regexp.MustCompile("^" + want + "$").MatchString(got + "\n" + says) {
			t.Errorf("in %s %s, the revision is %q, and git prints %q; want %s", test.folder, test.env, got, says, want)
		}
	}
	for folder, want := range map[string]string{"zip": `^compatibility: .* in a clone\n$`, "mono": `safe\.directory`} {
		_, says := shell(t, filepath.Join(dir, folder), "! sh $(find . -name compat.sh)", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
		if !regexp.MustCompile(want).MatchString(says) {
			t.Errorf("in %s, compat.sh prints %q, want %s", folder, says, want)
		}
	}
}

// The tools run in a workspace, and make -n check only prints what it would run.
func TestMakeCheck(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make", "go")
	work := t.TempDir()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	shell(t, work, `go work init "$TOP"`, "TOP="+top)
	shell(t, top, `make -s -f - tools <<'END'
include Makefile
tools: ; $(TOOL)
END
		make -n check`, "GOWORK="+filepath.Join(work, "go.work"))
}

// Scripts go to the top of the repository, even if CDPATH names another folder with the same names.
func TestCDPATH(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash")
	other := t.TempDir()
	for _, name := range []string{".ci/run", "test/contract/compat.sh", "test/e2e/stack.sh"} {
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		got, _ := shell(t, "../..", `pwd; bash -c 'cd() { builtin cd "$@" >/dev/null; pwd; exit; }; . "$0"' `+name,
			"CDPATH="+other)
		if want, went, _ := strings.Cut(got, "\n"); went != want {
			t.Errorf("with CDPATH, %s goes to %s, want %s", name, went, want)
		}
	}
}

// Podman doesn't know where short names of images lead.
func TestImageNames(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"Dockerfile", "Makefile", "internal/testing/dynamolocal/dynamolocal.go"} {
		images := regexp.MustCompile(`[\w./]*(amazon/dynamodb-local|golang:)`).FindAllString(readFile(t, file), -1)
		for _, image := range images {
			if !strings.HasPrefix(image, "docker.io/") {
				t.Errorf("%s: the image %s needs the name of its registry", file, image)
			}
		}
		if images == nil {
			t.Errorf("%s names no image", file)
		}
	}
}
