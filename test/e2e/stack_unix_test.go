//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/template"
)

// stack.sh runs the suite as two users of the stack's user pool, and deletes them
// however the suite ends. The suite is here a make that fails. It must notice a user
// that is left, two tokens of one user, and a stack for which the suite can't run.
func TestStackScript(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "curl", "openssl")
	if err := harness.DependOn("test/e2e/stack.sh"); err != nil {
		t.Fatal(err)
	}
	out, err := template.Python(t, "../template/aws.py", "bash", "-c", `
		make() { echo "make $*; $PLANTS_TOKEN_1 $PLANTS_TOKEN_2"; false; }
		export -f make
		for stack in plants plants-without-pool plants-with-scopes; do
			GITHUB_ACTIONS= ./stack.sh $stack
			echo "exit code $?"
		done
		pool=$(aws cognito-idp list-user-pools --max-results 1 --query 'UserPools[0].Id' --output text)
		aws cognito-idp list-users --user-pool-id "$pool" --filter 'username ^= "acceptance-"' --query 'length(Users)'`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	for i, want := range []string{
		`make acceptance BASE=https://plants\.example; eyJ\S+ eyJ\S+`, "exit code 1", // as make
		"stack plants-without-pool has no user pool: .*", "exit code 1",
		"stack plants-with-scopes requires scopes, .*", "exit code 1",
		"0", // users are left
		"",
	} {
		if i >= len(lines) || !regexp.MustCompile("^"+want+"$").MatchString(lines[i]) {
			t.Fatalf("with stack.sh, line %d of the output must be %q:\n%s", i+1, want, out)
		}
	}
	if tokens := strings.Fields(lines[0]); tokens[3] == tokens[4] {
		t.Error("the suite gets the same token twice")
	}
}
