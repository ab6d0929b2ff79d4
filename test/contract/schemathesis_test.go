//go:build contract

// Package contract tests the service with what others make of api/openapi.yaml: requests
// that schemathesis generates, clients in three languages, and an MCP server. Run it with
// make contract.
package contract

import (
	"embed"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

func TestMain(m *testing.M) { harness.Main(m) }

var seed = flag.Int("seed", 1, "the seed of schemathesis's requests")

// minCases is the minimum number of requests.
const minCases = 2000

// settings are the files that schemathesis reads in its working directory.
//
//go:embed schemathesis.toml hooks.py users.yaml
var settings embed.FS

// TestSchemathesis runs schemathesis against the plain server. It must be thorough
// and find nothing. The tests of package handlers check the document in more detail.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	p := plainserver.Start(t, harness.Environ(), t.TempDir())
	dir := t.TempDir()
	if err := os.CopyFS(dir, settings); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.yaml"), api.Document, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python(t), "-m", "schemathesis.cli", "run", "openapi.yaml",
		"--url", p.Base, "--checks", "all", "--seed", strconv.Itoa(*seed), "--no-color",
		"--report-json-path", "report.json")
	cmd.Dir = dir
	cmd.Env = harness.Environ("PYTHONDONTWRITEBYTECODE=1")
	cmd.WaitDelay = time.Minute // in case a child process keeps the pipes open
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Complete   bool
		Operations struct{ Total, Tested int }
		TestCases  struct{ Generated int } `json:"test_cases"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if !report.Complete || report.Operations.Tested != report.Operations.Total || report.TestCases.Generated < minCases {
		t.Errorf("schemathesis wasn't thorough: %+v; want every operation, "+
			"and at least %d requests (max-examples in schemathesis.toml)", report, minCases)
	}
}
