package dynamolocal

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Without DynamoDB Local, tests fail in CI.
func TestNoDynamoDBLocal(t *testing.T) {
	if os.Getenv("INNER") != "" {
		Endpoint(t)
	}
	for env, want := range map[string]string{"CI=true": "--- FAIL", "CI=": "--- SKIP"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoDynamoDBLocal$", "-test.v")
		cmd.Env = append(os.Environ(), "INNER=x", "PATH=", "CI=", endpointEnv+"=", env)
		out, _ := cmd.CombinedOutput() // an error with FAIL
		if !strings.Contains(string(out), want) || !strings.Contains(string(out), "no DynamoDB Local") {
			t.Errorf("%s: want %s\n%s", env, want, out)
		}
	}
}
