package template

import (
	"maps"
	"strconv"
	"strings"
	"testing"
)

// profile returns what a profile of samconfig.toml sets for sam deploy, and the parameters
// of the template that it sets.
func profile(t *testing.T, name string) (settings, parameters map[string]string) {
	t.Helper()
	_, section, _ := strings.Cut(readFile(t, "samconfig.toml"), "\n["+name+".deploy.parameters]\n")
	section, _, _ = strings.Cut(section, "\n[")
	settings = map[string]string{}
	for line := range strings.Lines(section) {
		if name, value, ok := strings.Cut(line, " = "); ok {
			settings[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return settings, overrides(settings["parameter_overrides"])
}

// The profiles are those of docs/deployment.md. Why says what would break.
func TestProfiles(t *testing.T) {
	t.Parallel()
	profiles := map[string]map[string]string{}
	for _, name := range []string{"default", "production"} {
		settings, parameters := profile(t, name)
		deploy(t, parameters)
		// The slowest deployment takes 90 minutes, and other resources come before it.
		if n, _ := strconv.Atoi(settings["max_wait_duration"]); n < 120 {
			t.Errorf("samconfig.toml: with a max_wait_duration of %d, the profile %s may give up too early", n, name)
		}
		maps.Copy(settings, parameters)
		profiles[name] = settings
	}
	for _, v := range []struct{ name, byDefault, inProduction, why string }{
		{"stack_name", "plants", "plants-production", "make and the pages use these names"},
		{"s3_prefix", "plants", "plants-production", "sam delete deletes this folder, even if another stack uses it"},
		{"resolve_s3", "true", "true", "sam deploy has no bucket for the code"},
		{"capabilities", "CAPABILITY_NAMED_IAM", "CAPABILITY_NAMED_IAM", "CloudFormation may not create the roles"},
		{"confirm_changeset", "false", "true", "only in production somebody must look at the changes first"},
		{"fail_on_empty_changeset", "false", "false", "a deployment can't be repeated"},
		{"Deployment", "AllAtOnce", "Canary10Percent5Minutes", "only in production a bad version must reach few users"},
		{"LogRetention", "7", "30", "logs are kept longer or shorter than docs/deployment.md says"},
		// SAM keeps parameters that aren't listed.
		{"RollbackAlarms", "true", "true", "what was set for an incident stays"},
		{"LogLevel", "info", "info", "what was set for an incident stays"},
	} {
		if got := profiles["default"][v.name]; got != v.byDefault {
			t.Errorf("samconfig.toml: %s is %q in the profile default, want %q: %s", v.name, got, v.byDefault, v.why)
		}
		if got := profiles["production"][v.name]; got != v.inProduction {
			t.Errorf("samconfig.toml: %s is %q in the profile production, want %q: %s", v.name, got, v.inProduction, v.why)
		}
	}
}
