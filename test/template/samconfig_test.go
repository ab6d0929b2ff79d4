package template

import (
	"regexp"
	"strconv"
	"testing"
)

// A profile is what samconfig.toml sets for sam deploy.
var profile = regexp.MustCompile(`(?s)\n\[(\w+)\.deploy\.parameters\]\nstack_name = "(.*?)"\ns3_prefix = "(.*?)"\n.*?max_wait_duration = (\d+)\nparameter_overrides = "(.*?)"\n`)

// Each profile has the stack that make knows it by, and a folder of its own for the code,
// since sam delete deletes the folder. It names what is changed for an incident, since SAM
// keeps what it doesn't name, and the template accepts what it names. SAM waits as long as
// a deployment may take: 90 minutes for the slowest one, and what comes before.
func TestProfiles(t *testing.T) {
	t.Parallel()
	stacks := map[string]string{"default": "plants", "production": "plants-production"}
	for _, p := range profile.FindAllStringSubmatch(readFile(t, "samconfig.toml"), -1) {
		name, stackName, prefix, minutes, parameters := p[1], p[2], p[3], p[4], overrides(p[5])
		if stackName != stacks[name] || prefix != stackName {
			t.Errorf("samconfig.toml: the profile %s has the stack %q and the prefix %q, want %q for both, as in the Makefile", name, stackName, prefix, stacks[name])
		}
		if n, _ := strconv.Atoi(minutes); n < 120 {
			t.Errorf("samconfig.toml: max_wait_duration is %d in the profile %s: sam deploy would give up before the slowest deployment ends", n, name)
		}
		s := deploy(t, parameters)
		for _, name := range []string{"Deployment", "LogLevel", "RollbackAlarms"} {
			if _, declared := s.Parameters[name]; declared && parameters[name] == "" {
				t.Errorf("samconfig.toml: %s lacks %s: set for an incident, it would stay", p[5], name)
			}
		}
		delete(stacks, name)
	}
	if len(stacks) > 0 {
		t.Errorf("samconfig.toml lacks the profiles of %q, or a setting of them", stacks)
	}
}
