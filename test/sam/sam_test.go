package sam

import (
	"slices"
	"strings"
	"testing"
)

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
