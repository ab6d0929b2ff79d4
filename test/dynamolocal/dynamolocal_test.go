package dynamolocal

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Without any way to DynamoDB Local tests are skipped, and in CI they fail. Both
// say what to do.
func TestNothingToBringUp(t *testing.T) {
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
		{"endpoint is dead", []string{"CI=", endpointEnv + "=http://127.0.0.1:1"}, false, []string{"--- FAIL", "http://127.0.0.1:1", "start DynamoDB Local there"}},
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
	client, table := Table(t)
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	if out.Table.TableStatus != "ACTIVE" || *out.Table.ItemCount != 0 {
		t.Errorf("table is %s with %d items, want an empty one to use", out.Table.TableStatus, *out.Table.ItemCount)
	}
	if Endpoint(t) != *client.Options().BaseEndpoint {
		t.Error("a second call of Endpoint gives another")
	}
}

func TestTableIsDeleted(t *testing.T) {
	var client *dynamodb.Client
	var table string
	t.Run("", func(t *testing.T) { client, table = Table(t) })
	if client == nil {
		t.SkipNow() // Endpoint skipped, and said so
	}
	if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}); err == nil {
		t.Error("the table outlives its test")
	}
}

func TestEnviron(t *testing.T) {
	t.Setenv("AWS_PROFILE", "mine")
	t.Setenv("AWS_REGION", "mine")
	t.Setenv("TABLE_NAME", "mine")
	t.Setenv("OTHER", "mine")
	env := Environ("http://127.0.0.1:1", "table")
	for _, want := range []string{"TABLE_NAME=table", "AWS_REGION=local", endpointEnv + "=http://127.0.0.1:1", "OTHER=mine"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, kv := range env {
		if strings.HasSuffix(kv, "=mine") && kv != "OTHER=mine" {
			t.Errorf("the user's %s gets through", kv)
		}
	}
}
