//go:build unix

package e2e

import (
	"os/exec"
	"regexp"
	"testing"

	"example.com/plantstore/test/sam"
	"example.com/plantstore/test/tools"
)

// stack.sh runs the suite as two users of the stack's user pool, and deletes them
// however the suite ends.
func TestStackScript(t *testing.T) {
	t.Parallel()
	tools.Need(t, "bash", "openssl")
	env := append(sam.Open(t).Moto(t), "GITHUB_ACTIONS=")
	for _, tt := range []struct{ script, output string }{
		{`make() { test "$PLANTS_TOKEN_1" != "$PLANTS_TOKEN_2" && echo "$* $PLANTS_TOKEN_1 $PLANTS_TOKEN_2"; }; export -f make; ./stack.sh plants`,
			`^acceptance BASE=https://plants\.example eyJ\S+ eyJ\S+\n0\n$`},
		{`make() { false; }; export -f make; ./stack.sh plants`, `^1\n$`},
		{`./stack.sh plants-without-pool`, `^stack plants-without-pool has no user pool.*\n1\n$`},
		{`aws cognito-idp list-users --user-pool-id "$(aws cognito-idp list-user-pools --max-results 1 --query 'UserPools[0].Id' --output text)"`,
			`^{\s*"Users": \[\]\s*}\n0\n$`},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", tt.script+"; echo $?")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil || !regexp.MustCompile(tt.output).Match(out) {
			t.Errorf("%s: %v; output %q, want %s", tt.script, err, out, tt.output)
		}
	}
}
