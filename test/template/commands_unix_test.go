//go:build unix

package template

import (
	"testing"

	"example.com/plantstore/test/harness"
)

// The AWS CLI accepts the commands of the pages on AWS, and they do what the pages say.
// commands.sh says what it must notice.
func TestAWSCommands(t *testing.T) {
	t.Parallel()
	harness.Need(t, "bash", "curl", "awk", "openssl")
	if err := harness.DependOn("docs"); err != nil {
		t.Fatal(err)
	}
	if out, err := Python(t, "aws.py", "bash", "commands.sh", t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
