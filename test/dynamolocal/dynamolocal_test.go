package dynamolocal

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Without DynamoDB Local tests are skipped, and in CI they fail. Both say what
// to do.
func TestNoDynamoDBLocal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		env  []string
		ok   bool
		want []string
	}{
		{"laptop", []string{"CI="}, true, []string{"--- SKIP", "no DynamoDB Local", "Docker", "Maven", endpointEnv}},
		{"CI", []string{"CI=true"}, false, []string{"--- FAIL", "Docker", "Maven", endpointEnv}},
		{"no answer", []string{"CI=", endpointEnv + "=http://127.0.0.1:1"}, false, []string{"--- FAIL", "http://127.0.0.1:1", "start DynamoDB Local there"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(self, "-test.run=^TestTable$", "-test.v")
			cmd.Env = append(os.Environ(), append([]string{"PATH=", endpointEnv + "="}, test.env...)...)
			out, err := cmd.CombinedOutput()
			if (err == nil) != test.ok {
				t.Errorf("the test binary ended with %v", err)
			}
			for _, want := range test.want {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("the output does not mention %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	client := Client(t, Endpoint(t))
	var table string
	t.Run("exists", func(t *testing.T) {
		client, table = Table(t)
		if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}); err != nil {
			t.Error(err)
		}
	})
	if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}); err == nil {
		t.Error("the table outlives its test")
	}
}
