//go:build unix

package e2e

import (
	"regexp"
	"testing"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/template"
)

// stack.sh runs the suite as two users of the stack's user pool, and deletes them
// however the suite ends.
func TestStackScript(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "curl", "openssl")
	if err := harness.DependOn("test/e2e/stack.sh"); err != nil {
		t.Fatal(err)
	}
	out, err := template.Python(t, "../template/aws.py", "bash", "-c", `
		make() { test "$PLANTS_TOKEN_1" != "$PLANTS_TOKEN_2" && echo "$* $PLANTS_TOKEN_1 $PLANTS_TOKEN_2"; false; }
		export -f make
		GITHUB_ACTIONS= ./stack.sh plants; echo $?
		./stack.sh plants-without-pool; echo $?
		./stack.sh plants-with-scopes; echo $?
		aws cognito-idp list-users --user-pool-id "$(aws cognito-idp list-user-pools --max-results 1 --query 'UserPools[0].Id' --output text)" \
			--query 'length(Users)'`).CombinedOutput()
	want := `^acceptance BASE=https://plants\.example eyJ\S+ eyJ\S+\n1\nstack plants-without-pool has no user pool.*\n1\nstack plants-with-scopes requires scopes.*\n1\n0\n$`
	if err != nil || !regexp.MustCompile(want).Match(out) {
		t.Errorf("%v; output %s\nwant %s", err, out, want)
	}
}
