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
	for name, tt := range map[string]struct{ stack, make, output string }{
		"suite passes": {"plants", `test "$PLANTS_TOKEN_1" != "$PLANTS_TOKEN_2" && echo "$* $PLANTS_TOKEN_1 $PLANTS_TOKEN_2"`,
			`^acceptance BASE=https://plants\.example eyJ\S+ eyJ\S+\nexit code 0, 0 users\n$`},
		"suite fails":  {"plants", "false", `^exit code 1, 0 users\n$`},
		"no user pool": {"plants-without-pool", ":", `^stack plants-without-pool has no user pool.*\nexit code 1, 0 users\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", `make() { `+tt.make+`; }; export -f make
				./stack.sh `+tt.stack+`; code=$?
				pool=$(aws cognito-idp list-user-pools --max-results 1 --query 'UserPools[0].Id' --output text)
				echo "exit code $code, $(aws cognito-idp list-users --user-pool-id "$pool" --query 'length(Users)') users"`)
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil || !regexp.MustCompile(tt.output).Match(out) {
				t.Errorf("%v; output %q, want %s", err, out, tt.output)
			}
		})
	}
}
