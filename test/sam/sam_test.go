package sam

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/tools"
)

func TestTools(t *testing.T) {
	tools := Open(t)
	var out, complaint bytes.Buffer
	cmd := tools.SAM(t.Context(), "--version")
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaint.Bytes())
	}
	if want := pinned(t, "aws-sam-cli"); !strings.HasSuffix(strings.TrimSpace(out.String()), " "+want) {
		t.Errorf("sam --version says %q, want version %s", out.String(), want)
	}

	out.Reset()
	cmd = tools.Python(t.Context(), "-c", "import samtranslator, cfnlint.version as l; print(samtranslator.__version__, l.__version__)")
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaint.Bytes())
	}
	if want := pinned(t, "aws-sam-translator") + " " + pinned(t, "cfn-lint"); strings.TrimSpace(out.String()) != want {
		t.Errorf("translator and linter are %q, want %q", out.String(), want)
	}
}

// pinned returns the version that the requirements have of a package.
func pinned(t *testing.T, name string) string {
	t.Helper()
	for line := range strings.Lines(string(requirements)) {
		if version, ok := strings.CutPrefix(line, name+"=="); ok {
			return strings.TrimSpace(version)
		}
	}
	t.Fatalf("the requirements have no %s", name)
	return ""
}

func TestRequirementsAreExact(t *testing.T) {
	n := 0
	for line := range strings.Lines(string(requirements)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		name, version, ok := strings.Cut(line, "==")
		if !ok || name == "" || version == "" || strings.ContainsAny(version, "*<>=;, ") {
			t.Errorf("%q names no exact version", line)
		}
	}
	if n < 3 {
		t.Errorf("%d requirements, want at least the three tools", n)
	}
}

func TestEnviron(t *testing.T) {
	env := environ([]string{"PATH=/bin", "AWS_PROFILE=mine", "AWS_REGION=us-east-1", "SAM_CLI_TELEMETRY=1", "PYTHONPATH=/mine"}, "settings")
	for _, want := range []string{"PATH=/bin", "AWS_REGION=" + Region, "SAM_CLI_TELEMETRY=0", "__SAM_CLI_APP_DIR=settings"} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
	for _, other := range []string{"AWS_PROFILE=mine", "AWS_REGION=us-east-1", "SAM_CLI_TELEMETRY=1", "PYTHONPATH=/mine"} {
		if slices.Contains(env, other) {
			t.Errorf("the environment has the user's %s", other)
		}
	}
}

func TestNoPython(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "python3") {
		t.Errorf("without Python: error %v, want one that names python3", err)
	}
}

func TestOneLine(t *testing.T) {
	got := tools.OneLine(errors.New("first\n\tsecond"))
	if got != "first second" {
		t.Errorf("got %q", got)
	}
	got = tools.OneLine(errors.New("begin " + strings.Repeat("x", 5000) + " end"))
	if len(got) > 620 || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end") {
		t.Errorf("a long error became %q", got)
	}
}
