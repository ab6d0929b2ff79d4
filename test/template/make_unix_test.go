//go:build unix

package template

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The targets of make use the profile and the stack of CONFIG_ENV, and make deploy
// deploys what it has just built.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make")
	for _, test := range []struct {
		environment, arguments []string
		profile, stack         string
	}{
		{nil, nil, "default", "plants"},
		{nil, []string{"CONFIG_ENV=production"}, "production", "plants-production"},
		{[]string{"CONFIG_ENV=production", "STACK=mine"}, nil, "production", "mine"}, // as in deploy.yml
	} {
		want := "sam build\n" +
			"sam deploy --config-env " + test.profile + "\n" +
			"sam logs --stack-name " + test.stack + " --tail\n" +
			"sam delete --config-env " + test.profile + " --stack-name " + test.stack + "\n" +
			"test/e2e/stack.sh " + test.stack
		arguments := append([]string{"deploy", "logs", "delete", "acceptance-stack"}, test.arguments...)
		if got := commands(t, test.environment, arguments); got != want {
			t.Errorf("with %q, make %q runs\n%s\nwant\n%s", test.environment, arguments, got, want)
		}
	}
	// sam deploy would deploy what is built in .aws-sam/build, but that for this machine.
	for command := range strings.Lines(commands(t, nil, []string{"start-api"})) {
		if !strings.Contains(command, " .aws-sam/local") {
			t.Errorf("make start-api runs %q, which must use .aws-sam/local", command)
		}
	}
}

// The functions of docs/operations.sh reach the stack of CONFIG_ENV, whatever else the shell has
// set, and none without it.
func TestOperations(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash")
	for environment, want := range map[string]string{
		"production": "aws plants-production\nmake plants-production\nsam production",
		"default":    "aws plants\nmake plants\nsam default",
		"":           "",
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", `
			aws() { [[ "$*" =~ --stack-name\ ([^ ]+) ]] && echo "aws ${BASH_REMATCH[1]}"; }
			make() { echo "make $(command make -n delete | sed -n "s/.*--stack-name '\(.*\)'/\1/p")"; }
			sam() { echo "sam $3"; }
			CONFIG_ENV=default; . docs/operations.sh >/dev/null
			CONFIG_ENV=$1
			output BaseUrl; deploy_with LogLevel=debug`, "bash", environment)
		cmd.Dir, cmd.Env = "../..", harness.Environ("STACK=another", "CONFIG_ENV=")
		out, _ := cmd.Output() // fails without CONFIG_ENV
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("with CONFIG_ENV=%s the functions run\n%s\nwant\n%s", environment, got, want)
		}
	}
}

var command = regexp.MustCompile(`(?m)(sam [a-z]|test/e2e/stack\.sh ).*$`)

// commands returns the commands of sam, and the script, that make would run.
func commands(t *testing.T, environment, arguments []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", slices.Concat([]string{"-n"}, arguments)...)
	cmd.Dir, cmd.Env = "../..", harness.Environ(environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.ReplaceAll(strings.Join(command.FindAllString(string(out), -1), "\n"), "'", "")
}
