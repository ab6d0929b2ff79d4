package template

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

const function = "PlantFunction"

func TestMain(m *testing.M) { harness.Main(m) }

// A stack is what CloudFormation would create from a template: the intrinsic
// functions are evaluated, and resources whose condition is false are left out.
// Values that only a real stack has remain as ${Resource} or ${Resource.Attribute}.
type stack struct {
	Resources  map[string]resource
	Outputs    map[string]any
	Parameters map[string]parameter // as declared
	Refused    []string             // why the deployment fails: an invalid parameter, or violated Rules
	Findings   []string             // of cfn-lint
	Snapshot   string               // resources and outputs as YAML
}

type resource struct {
	Type, DeletionPolicy string
	Properties           map[string]any
}

type parameter struct {
	Default       any
	AllowedValues []any
}

// A job is a request to stack.py, which documents it.
type job struct {
	Template   string            `json:"template"`
	Parameters map[string]string `json:"parameters"`
	Region     string            `json:"region"`
	Snapshot   bool              `json:"snapshot"`
	Lint       string            `json:"lint,omitempty"`
}

//go:embed stack.py
var script string

// python runs stack.py. Since Python takes a second to start, all tests share
// one process. It ends when its standard input does, with this process.
var python struct {
	sync.Mutex
	in      *json.Encoder
	out     *json.Decoder
	stderr  harness.Buffer
	results map[string]stack // by job
}

// do returns the result of a job. Callers must not change it.
func do(t *testing.T, j job) stack {
	t.Helper()
	python.Lock()
	defer python.Unlock()
	if python.in == nil {
		python3 := Python(t, "-c", script)
		cmd := exec.Command(python3.Path, python3.Args[1:]...) // which outlives this test
		cmd.Env = python3.Env
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		cmd.Stderr = &python.stderr
		if err := cmd.Start(); err != nil || inErr != nil || outErr != nil {
			t.Fatal(err, inErr, outErr)
		}
		python.in, python.out, python.results = json.NewEncoder(in), json.NewDecoder(out), map[string]stack{}
	}
	if j.Parameters == nil {
		j.Parameters = map[string]string{}
	}
	j.Region = cmp.Or(j.Region, Region)
	key := fmt.Sprint(j)
	s, ok := python.results[key]
	if ok {
		return s
	}
	if err := errors.Join(python.in.Encode(j), python.out.Decode(&s)); err != nil {
		t.Fatalf("stack.py: %v\n%s", err, python.stderr.String())
	}
	python.results[key] = s
	return s
}

// deploy returns the stack of template.yaml with the given parameters, which must
// be valid.
func deploy(t *testing.T, parameters map[string]string) stack {
	t.Helper()
	s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: parameters})
	if len(s.Refused) > 0 {
		t.Errorf("template.yaml refuses %v: %q", parameters, s.Refused)
	}
	return s
}

// readFile reads a file in the top folder of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// at returns what is at the path below v, or nil.
func at(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// str returns what is at the path as text: JSON, unless it is a string.
func str(v any, path ...string) string {
	switch v := at(v, path...).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(err)
		}
		return string(b)
	}
}

// list returns the list at the path. CloudFormation takes one value for a list of one.
func list(v any, path ...string) []any {
	switch v := at(v, path...).(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for _, finding := range do(t, job{Lint: readFile(t, "template.yaml")}).Findings {
		t.Errorf("template.yaml: %s", finding)
	}
	// A finding in a broken template shows that the linter works.
	broken := "Resources: {Table: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref NoSuchTable}}}"
	if found := do(t, job{Lint: broken}).Findings; !strings.Contains(strings.Join(found, "\n"), "NoSuchTable") {
		t.Errorf("the linter doesn't find a reference to a table that doesn't exist: %q", found)
	}
}
