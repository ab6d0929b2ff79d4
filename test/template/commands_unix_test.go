//go:build unix

package template

import (
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

// The AWS CLI accepts the commands of the pages on AWS, in the order of the pages,
// and they have the described effect on moto. Moto checks no permissions, and
// restores a table as it is now. Commands other than aws are replaced.
func TestAWSCommands(t *testing.T) {
	t.Parallel()
	harness.Need(t, "sh", "curl")
	var script strings.Builder
	real := strings.NewReplacer("--function-version 41", "--function-version 1") // the only one
	script.WriteString(`set -eu; TOKEN=token OTHER_TOKEN=token ID=id SECRET=secret CERTIFICATE=arn; sam() { echo "sam $*"; }; make() { :; }; git() { :; }; curl() { echo '{"access_token":"token"}'; }` + "\n")
	for _, page := range []struct{ name, then string }{
		{"docs/operations.md", `
			aws dynamodb describe-continuous-backups --table-name plants-restored --query "*.ContinuousBackupsStatus" --output text
			aws dynamodb describe-table --table-name plants-restored --query "Table.[DeletionProtectionEnabled,GlobalSecondaryIndexes[].IndexName]" --output text`},
		{"docs/deployment.md", `
			aws dynamodb list-tables --query TableNames --output text`},
		{"docs/users.md", `
			aws cognito-idp list-user-pools --max-results 9 --query UserPools --output json`},
	} {
		for _, block := range regexp.MustCompile("(?s)\n *```sh\n(.*?)```").FindAllStringSubmatch(readFile(t, page.name), -1) {
			script.WriteString(real.Replace(block[1]))
		}
		script.WriteString(page.then + "\n")
	}
	out, err := Python(t, "aws.py", "sh", "-c", script.String()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		`\n1\n1\n`, // plants in the table, and in the restored one
		`\nsam deploy \S+ ExistingTable=plants-restored `,
		`\nsam deploy \S+ ExistingTable=plants-PlantTable-`,
		`\nENABLED\nTrue\nowner-index\n`, // like the stack's table
		`\nplants-restored\n`,            // what remains when the stack is removed
		`\n\[\]\n$`,                      // no user pool
	} {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("%s doesn't follow in the output:\n%s", want, out)
		}
		rest = rest[at[1]-1:]
	}
}
