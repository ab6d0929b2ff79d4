//go:build contract

package contract

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/api"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/openapi"
	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

var seed = flag.Int("seed", 1, "what the requests of schemathesis are made from: the same seed makes the same ones")

// minCases is how many requests schemathesis must send to each store.
const minCases = 2000

// settings is what schemathesis reads, each file in the folder that it runs in.
//
//go:embed schemathesis.toml hooks.py users.yaml
var settings embed.FS

//go:embed requirements.txt
var requirements []byte

func TestSchemathesisBolt(t *testing.T) {
	t.Parallel()
	trySchemathesis(t, program.Start(t, program.Environ(), t.TempDir()))
}

func TestSchemathesisDynamoDB(t *testing.T) {
	t.Parallel()
	trySchemathesis(t, program.Start(t, dynamolocal.Environ(dynamolocal.Endpoint(t), "contract-"+rand.Text()), t.TempDir()))
}

// trySchemathesis has schemathesis try the document on the service, and then
// holds what was sent and answered to the document once more: schemathesis lets
// pass what OpenAPI does, such as headers that it doesn't name.
func trySchemathesis(t *testing.T, p *program.Program) {
	python := install(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, settings); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.yaml"), api.Document, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("schemathesis with seed %d", *seed)
	cmd := exec.CommandContext(t.Context(), python, "-m", "schemathesis.cli", "run", "openapi.yaml",
		"--url", p.Base, "--checks", "all", "--seed", strconv.Itoa(*seed), "--no-color",
		"--report-json-path", "report.json", "--report-har-path", "report.har",
		"--report-preserve-bytes", "--output-sanitize", "false") // or else no body or token could be checked
	cmd.Dir = dir
	cmd.Env = append(program.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	t.Logf("%s", run(t, cmd))
	checkReport(t, filepath.Join(dir, "report.json"))
	checkExchanges(t, filepath.Join(dir, "report.har"), p.Base)
}

// checkReport checks that schemathesis has done what it is there for.
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
		t.Errorf("schemathesis tried %d cases, want %d at least: raise max-examples in schemathesis.toml", n, minCases)
	}
	if !report.Complete || report.TestCases.WithFailures+report.TestCases.Errored > 0 || report.Operations.Tested != report.Operations.Total {
		t.Errorf("schemathesis did not come to a good end: %+v", report)
	}
	for _, phase := range []string{"examples", "coverage", "fuzzing", "stateful"} {
		if got := report.Phases[phase].Status; got != "success" {
			t.Errorf("the phase %s of schemathesis ended with %q", phase, got)
		}
	}
}

// A har is a record of exchanges, in the HTTP Archive format 1.2.
type har struct {
	Log struct {
		Entries []struct {
			Request struct {
				Method, URL string
				Headers     []harHeader
				PostData    struct{ Text string }
			}
			Response struct {
				Status  int
				Headers []harHeader
				Content struct{ Text string }
			}
		}
	}
}

type harHeader struct{ Name, Value string }

// checkExchanges holds each exchange to the document, and checks that each of
// its operations was met with success and with failure.
func checkExchanges(t *testing.T, name, base string) {
	doc, err := openapi.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	var record har
	readJSON(t, name, &record)
	seen := map[string]int{}
	for _, e := range record.Log.Entries {
		req := &http.Request{Method: e.Request.Method, Header: header(e.Request.Headers)}
		req.URL, _ = url.Parse(e.Request.URL) // nil is one that does not parse
		resp := &http.Response{StatusCode: e.Response.Status, Header: header(e.Response.Headers)}
		sent, received := decode(t, e.Request.PostData.Text), decode(t, e.Response.Content.Text)
		if err := doc.Validate(req, sent, resp, received); err != nil {
			t.Errorf("%v\n> %s %s\n> %q\n< %d %q", err, e.Request.Method, e.Request.URL, sent, e.Response.Status, received)
		}
		seen[fmt.Sprintf("%s %d", e.Request.Method, e.Response.Status)]++
	}
	t.Logf("answers: %v", seen)
	for _, want := range []string{
		"POST 200", "POST 400", "POST 401", "GET 200", "GET 400", "GET 401", "HEAD 200", "HEAD 400", "HEAD 401",
		"DELETE 204", "DELETE 400", "DELETE 401", "DELETE 404", "DELETE 405", "PUT 405",
	} {
		if seen[want] == 0 {
			t.Errorf("no request was answered %q", want)
		}
	}
}

func header(lines []harHeader) http.Header {
	h := http.Header{}
	for _, line := range lines {
		h.Add(line.Name, line.Value)
	}
	return h
}

func decode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("a body in the record is not base64: %v", err)
	}
	return b
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// install returns the Python of an environment that has schemathesis. It is
// made once, and kept in the user's cache folder.
func install(t *testing.T) string {
	t.Helper()
	python := "python3"
	if runtime.GOOS == "windows" {
		python = "python"
	}
	// Another Python needs an environment of its own, and so do other versions
	// of the tools.
	identity := run(t, exec.CommandContext(t.Context(), python, "-c", "import sys, venv; print(sys.version, sys.executable)"))
	name := fmt.Sprintf("schemathesis-%x", sha256.Sum256([]byte(identity+string(requirements))))[:25]
	dir, err := tools.Dir(name, 8*time.Minute, func(dir string) error {
		file := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(file, requirements, 0o600); err != nil {
			return err
		}
		for _, args := range [][]string{
			{python, "-m", "venv", dir},
			{pythonIn(dir), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--requirement", file},
		} {
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("no schemathesis. Install Python 3.11 or later with its venv module (Debian: python3-venv): %v", err)
	}
	return pythonIn(dir)
}

func pythonIn(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}
