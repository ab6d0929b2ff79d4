//go:build contract

// Package contract tests the service with what others generate from
// api/openapi.yaml: requests, and clients. Run it with make contract.
package contract

import (
	"embed"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/test/openapi"
	"example.com/plantstore/test/tools"
)

var seed = flag.Int("seed", 1, "the seed of schemathesis's requests")

// minCases is the least number of requests.
const minCases = 2000

// settings are the files that schemathesis reads in its working directory.
//
//go:embed schemathesis.toml hooks.py users.yaml
var settings embed.FS

//go:embed requirements.txt
var requirements []byte

// TestSchemathesis runs schemathesis on the plain server and then checks the
// exchanges again with package openapi, which is stricter.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	p := tools.StartServer(t, tools.Environ(), t.TempDir())
	python, err := tools.Python("schemathesis", requirements)
	if err != nil {
		t.Fatalf("schemathesis can't be installed; it needs Python 3.11 or later with venv (Debian: python3-venv): %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, settings); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.yaml"), api.Document, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-m", "schemathesis.cli", "run", "openapi.yaml",
		"--url", p.Base, "--checks", "all", "--seed", strconv.Itoa(*seed), "--no-color",
		"--report-json-path", "report.json", "--report-har-path", "report.har",
		"--report-preserve-bytes", "--output-sanitize", "false") // keep bodies and tokens
	cmd.Dir = dir
	cmd.Env = append(tools.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	t.Logf("%s", run(t, cmd))
	checkReport(t, filepath.Join(dir, "report.json"))
	checkExchanges(t, filepath.Join(dir, "report.har"))
}

// checkReport checks that schemathesis was thorough and found nothing.
func checkReport(t *testing.T, name string) {
	var report struct {
		Complete   bool
		Operations struct{ Total, Tested int }
		Phases     map[string]struct{ Status string }
		TestCases  struct {
			Generated    int
			WithFailures int `json:"with_failures"`
			Errored      int
		} `json:"test_cases"`
	}
	readJSON(t, name, &report)
	if n := report.TestCases.Generated; n < minCases {
		t.Errorf("schemathesis sent %d requests, want at least %d: raise max-examples in schemathesis.toml", n, minCases)
	}
	if !report.Complete || report.TestCases.WithFailures+report.TestCases.Errored > 0 || report.Operations.Tested != report.Operations.Total {
		t.Errorf("schemathesis found faults or didn't finish: %+v", report)
	}
	for _, phase := range []string{"examples", "coverage", "fuzzing", "stateful"} {
		if got := report.Phases[phase].Status; got != "success" {
			t.Errorf("phase %s of schemathesis: %q, want success", phase, got)
		}
	}
}

// A har has the exchanges in an HTTP Archive 1.2.
type har struct {
	Log struct {
		Entries []struct {
			Request struct {
				Method, URL string
				Headers     headers
				PostData    struct{ Text []byte } // base64
			}
			Response struct {
				Status  int
				Headers headers
				Content struct{ Text []byte } // base64
			}
		}
	}
}

type headers []struct{ Name, Value string }

func (h headers) all() http.Header {
	all := http.Header{}
	for _, line := range h {
		all.Add(line.Name, line.Value)
	}
	return all
}

// checkExchanges checks each exchange against the document, and that each
// operation succeeded, failed, and was refused without a token.
func checkExchanges(t *testing.T, name string) {
	doc := openapi.Read()
	var record har
	readJSON(t, name, &record)
	succeeded, failed, refused := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range record.Log.Entries {
		target, err := url.Parse(e.Request.URL)
		if err != nil {
			continue // the server refuses it before it reaches the service
		}
		req := &http.Request{Method: e.Request.Method, URL: target, Header: e.Request.Headers.all()}
		resp := &http.Response{StatusCode: e.Response.Status, Header: e.Response.Headers.all()}
		sent, received := e.Request.PostData.Text, e.Response.Content.Text
		if err := doc.Validate(req, sent, resp, received); err != nil {
			t.Errorf("%v\n> %s %s\n> %q\n< %d %q", err, e.Request.Method, e.Request.URL, sent, e.Response.Status, received)
		}
		op := doc.Find(req).String()
		succeeded[op] = succeeded[op] || resp.StatusCode < 300
		failed[op] = failed[op] || resp.StatusCode == 400
		refused[op] = refused[op] || resp.StatusCode == 401
	}
	for _, op := range doc.Operations {
		if op := op.String(); !succeeded[op] || !failed[op] || !refused[op] {
			t.Errorf("%s: success %t, status 400 %t, status 401 %t; want all", op, succeeded[op], failed[op], refused[op])
		}
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
