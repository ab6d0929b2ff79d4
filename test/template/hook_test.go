package template

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CodeDeploy runs the hook for the version that gets published. The hook may invoke it
// and report the result, and nothing else.
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
	allowed := []string{
		"codedeploy:PutLifecycleEventHookExecutionStatus arn:aws:codedeploy:eu-central-1:${AWS::AccountId}:deploymentgroup:${ServerlessDeploymentApplication}/*",
		"lambda:InvokeFunction ${" + function + ".Arn}:*",
		"logs:CreateLogStream ${FunctionLogs.Arn}", "logs:PutLogEvents ${FunctionLogs.Arn}",
	}
	if got := s.allowed("HookRole"); !slices.Equal(got, allowed) {
		t.Errorf("template.yaml: HookRole allows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(allowed, "\n"))
	}
	checkSettings(t, []setting{
		{"HookRole", "AssumeRolePolicyDocument.Statement", "", `[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}]`, "nobody else may accept a version"},
		{hook, "Role", "", "${HookRole.Arn}", "another role may do more, or too little"},
		{hook, "Timeout", "", "60", "cmd/hook stops 15 s before it, and a new version may take 10 s to respond"},
		{hook, "LoggingConfig", "", `{"LogFormat":"JSON","LogGroup":"${FunctionLogs}"}`, "docs/operations.md looks for the reason of a rejection there"},
		{hook, "Architectures", "Architecture=x86_64", `["x86_64"]`, "make build has built for this processor"},
	})
}
