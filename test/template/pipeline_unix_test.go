//go:build unix

package template

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// A run of deploy.yml deploys no commit that is older than the deployed one, or beside it,
// and takes later ones that are ready. Such a run may be of an older commit, since GitHub
// doesn't order runs. The repository of this test:
//
//	old --- deployed ------- merge --- later   main
//	  \             \       /
//	   beside        branch
func TestDeployedCommit(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "git")
	dir, bin := t.TempDir(), t.TempDir()
	// run runs a script as GitHub does, with the given variables. Its gh knows the commits
	// in READY, and its aws a stack that has the REVISION.
	run := func(script string, variables ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(harness.Environ(variables...), "PATH="+bin+":"+os.Getenv("PATH"),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GITHUB_REPOSITORY=owner/repository")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	for name, text := range map[string]string{
		"gh": `case $2 in
			repos/owner/repository/commits/*/check-runs?check_name=ready) ;;
			*) exit 1 ;;
			esac
			commit=${2#*commits/}
			echo cancelled # an earlier try
			case $READY in *${commit%%/*}*) echo success ;; esac`,
		"aws": `case $* in
			"cloudformation describe-stacks --stack-name plants "*Revision*" --output text") echo "$REVISION" ;;
			*) exit 1 ;;
			esac`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
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
		commit later
		git checkout --quiet -b other old
		commit beside`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	id := map[string]string{"": ""}
	for _, name := range []string{"old", "deployed", "branch", "merge", "later", "beside"} {
		id[name], _ = run("git rev-parse " + name + "^{commit}")
	}
	job := readWorkflow(t).Jobs["staging"]
	step := func(name string) string {
		i := slices.IndexFunc(job.Steps, func(s step) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("deploy.yml: staging has no step %q", name)
		}
		return job.Steps[i].Run
	}

	for _, test := range []struct{ run, ready, want string }{
		{"later", "later", "later"},
		{"deployed", "deployed later", "later"}, // an older run that has taken the place of the newer one
		{"old", "old deployed branch", "deployed"},
		{"deployed", "deployed branch", "deployed"}, // the branch lacks what main has
		{"beside", "beside later", ""},              // main was rewritten
	} {
		var ready []string
		for name := range strings.FieldsSeq(test.ready) {
			ready = append(ready, id[name])
		}
		output := filepath.Join(t.TempDir(), "output")
		out, err := run("git checkout --quiet main\n"+step(newest), "GITHUB_SHA="+id[test.run], "GITHUB_OUTPUT="+output, "READY="+strings.Join(ready, " "))
		got, _ := os.ReadFile(output)
		head, _ := run("git rev-parse HEAD")
		switch {
		case test.want == "" && err == nil:
			t.Errorf("a run of the commit %s deploys, but main doesn't have it:\n%s", test.run, out)
		case test.want != "" && (err != nil || head != id[test.want] || string(got) != "commit="+head+"\n"):
			t.Errorf("a run of the commit %s, when %s are ready, takes %q with the output %q, want %s: %v\n%s", test.run, test.ready, head, got, id[test.want], err, out)
		}
	}

	for _, test := range []struct {
		commit, revision string
		deploys          bool
	}{
		{"deployed", id["deployed"][:7] + ".261123061200", true},
		{"deployed", id["deployed"][:7] + "+.261123061200", true}, // with files that weren't committed
		{"merge", id["deployed"][:7] + ".261123061200", true},
		{"later", id["deployed"][:7] + ".261123061200", true},
		{"later", id["branch"][:7] + ".261123061200", true},
		{"old", id["deployed"][:7] + ".261123061200", false},
		{"beside", id["deployed"][:7] + ".261123061200", false},
		{"later", id["beside"][:7] + ".261123061200", false},
		{"later", "0000000.261123061200", false}, // of another repository
		{"later", "unknown.261123061200", false}, // built without git
		{"later", "unknown", false},              // built without make
		{"later", "None", false},
		{"later", "", false},
	} {
		out, err := run("git checkout --quiet "+test.commit+"\n"+step(descends), "REVISION="+test.revision, "STACK="+job.Env["STACK"])
		if (err == nil) != test.deploys || err != nil && !strings.Contains(out, "::error::plants has the revision '"+test.revision+"'") {
			t.Errorf("%s is deployed over the revision %q: %t, want %t\n%s", test.commit, test.revision, err == nil, test.deploys, out)
		}
	}

	if out, err := run("make() { return 1; }\n"+job.Steps[len(job.Steps)-1].Run, "STACK=plants"); err == nil || !strings.Contains(out, "stays live") {
		t.Errorf("if the tests of the deployed version fail, the last step doesn't, or doesn't say that it stays live: %v\n%s", err, out)
	}
}
