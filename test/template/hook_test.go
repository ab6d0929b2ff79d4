package template

import (
	"regexp"
	"strings"
	"testing"
)

// CodeDeploy runs the hook for the version that gets published.
func TestHook(t *testing.T) {
	t.Parallel()
	const hook = "HookFunction"
	s := deploy(t, nil)
	if got := str(s.Resources[function+"Aliaslive"].UpdatePolicy, "CodeDeployLambdaAliasUpdate", "BeforeAllowTrafficHook"); got != "${"+hook+"}" {
		t.Errorf("template.yaml: CodeDeploy runs the hook %q, want %s", got, hook)
	}
	properties := s.Resources[hook].Properties
	// The prefix is that of AWSCodeDeployRoleForLambda:
	// https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSCodeDeployRoleForLambda.html
	if name := str(properties, "FunctionName"); !regexp.MustCompile(`^CodeDeployHook_[\w-]{1,49}$`).MatchString(name) {
		t.Errorf("template.yaml: CodeDeploy may not invoke the hook by its name %q", name)
	}
	version, _, _ := strings.Cut(s.version(), " ")
	if got := str(properties, "Environment", "Variables", "NEW_VERSION"); got != "${"+version+"}" {
		t.Errorf("template.yaml: the hook tries %s, want the version %s", got, version)
	}
}
