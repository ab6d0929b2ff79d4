//go:build unix

package template

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// A run of deploy.yml deploys no commit that is older than the deployed one, or beside it:
// GitHub doesn't order runs, and an old one can be run again. The repository of this test:
//
//	old --- deployed ------- merge   main
//	  \             \       /
//	   beside        branch
func TestDeployedCommit(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "git")
	dir, bin := t.TempDir(), t.TempDir()
	// run runs a script as GitHub does. Its aws knows a stack that has the REVISION.
	run := func(script string, variables ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(harness.Environ(variables...), "PATH="+bin+":"+os.Getenv("PATH"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	aws := `#!/bin/sh
		case $* in
		"cloudformation describe-stacks --stack-name plants "*Revision*" --output text") echo "$REVISION" ;;
		*) exit 1 ;;
		esac`
	if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(aws), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := run(`
		git init --quiet --initial-branch=main .
		git config user.name test
		git config user.email test@example.com
		commit() { git commit --quiet --allow-empty --message "$1"; git tag "$1"; }
		commit old
		commit deployed
		git checkout --quiet -b topic
		commit branch
		git checkout --quiet main
		git merge --quiet --no-ff --message merge topic
		git tag merge
		git checkout --quiet -b other old
		commit beside`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	id := map[string]string{}
	for _, name := range []string{"deployed", "branch", "beside"} {
		commit, _ := run("git rev-parse " + name + "^{commit}")
		id[name] = commit[:7]
	}
	job := readWorkflow(t).Jobs["staging"]
	const name = "stop unless the commit is the deployed one or descends from it"
	i := slices.IndexFunc(job.Steps, func(s step) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("deploy.yml: staging has no step %q", name)
	}
	for _, test := range []struct {
		commit, revision string
		deploys          bool
	}{
		{"deployed", id["deployed"] + ".261123061200", true},
		{"deployed", id["deployed"] + "+.261123061200", true}, // with files that weren't committed
		{"merge", id["deployed"] + ".261123061200", true},
		{"merge", id["branch"] + ".261123061200", true},
		{"old", id["deployed"] + ".261123061200", false},
		{"beside", id["deployed"] + ".261123061200", false},
		{"merge", id["beside"] + ".261123061200", false},
		{"merge", "0000000.261123061200", false}, // of another repository
		{"merge", "unknown.261123061200", false}, // built without git
		{"merge", "unknown", false},              // built without make
		{"merge", "None", false},
		{"merge", "", false},
	} {
		script := "git checkout --quiet " + test.commit + "\n" + job.Steps[i].Run
		out, err := run(script, "REVISION="+test.revision, "STACK="+job.Env["STACK"])
		reason := "::error::plants has the revision '" + test.revision + "'"
		if (err == nil) != test.deploys || err != nil && !strings.Contains(out, reason) {
			t.Errorf("%s is deployed over the revision %q: %t, want %t\n%s",
				test.commit, test.revision, err == nil, test.deploys, out)
		}
	}
	if out, err := run("make() { return 1; }\n"+job.Steps[len(job.Steps)-1].Run, "STACK=plants"); err == nil {
		t.Errorf("if the deployed version fails the session, the last step doesn't fail:\n%s", out)
	}
}
