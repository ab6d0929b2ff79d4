package sam

import (
	"slices"
	"strings"
	"testing"
)

func TestVersions(t *testing.T) {
	const script = "import samcli, samtranslator, cfnlint.version as lint\n" +
		"print(samcli.__version__, samtranslator.__version__, lint.__version__)"
	out, err := Open(t).Python(t.Context(), "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]string{}
	for line := range strings.Lines(string(requirements)) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), "==")
		pinned[name] = version
	}
	want := []string{pinned["aws-sam-cli"], pinned["aws-sam-translator"], pinned["cfn-lint"]}
	if got := strings.Fields(string(out)); !slices.Equal(got, want) {
		t.Errorf("the tools have versions %q, requirements.txt has %q", got, want)
	}
}

func TestUserSettingsAreIgnored(t *testing.T) {
	own := []string{"AWS_PROFILE=mine", "AWS_REGION=us-east-1", "SAM_CLI_TELEMETRY=1", "PYTHONPATH=/mine"}
	for _, kv := range own {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	env := (&Tools{}).Python(t.Context()).Env
	for _, kv := range own {
		if slices.Contains(env, kv) {
			t.Errorf("the environment has the user's %s", kv)
		}
	}
}
