package template

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"testing"

	"example.com/plantstore/test/sam"
)

//go:embed translate.py
var translator string

// A job is one for translate.py, which says what it does.
type job struct {
	Translate  node              `json:"translate,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Lint       string            `json:"lint,omitempty"`
	Ignore     []string          `json:"ignore,omitempty"`
	YAML       string            `json:"yaml,omitempty"`
	TOML       string            `json:"toml,omitempty"`
	Schema     string            `json:"schema,omitempty"`
}

type result struct {
	Template node     `json:"template"`
	Error    string   `json:"error"`
	Findings []string `json:"findings"`
	Value    node     `json:"value"`
}

// do runs the jobs in one process, since it takes Python a second to begin.
func do(t *testing.T, jobs ...job) []result {
	t.Helper()
	in, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	var out, complaint bytes.Buffer
	cmd := sam.Open(t).Python(t.Context(), "-c", translator)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("translate.py: %v\n%s", err, complaint.Bytes())
	}
	var results []result
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		t.Fatalf("translate.py: %v\n%s", err, out.Bytes())
	}
	if len(results) != len(jobs) {
		t.Fatalf("translate.py gave %d results for %d jobs", len(results), len(jobs))
	}
	return results
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var parsed node

// source returns the parsed template. Every call returns another copy.
func source(t *testing.T) node {
	t.Helper()
	if parsed == nil {
		parsed = do(t, job{YAML: readFile(t, "../../template.yaml")})[0].Value
	}
	return clone(t, parsed)
}

// clone returns a copy that shares nothing.
func clone(t *testing.T, n node) node {
	t.Helper()
	b, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	var c node
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}
