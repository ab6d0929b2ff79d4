package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const function = "PlantFunction"

// The values that protect users and their data. The snapshots show these, too, but here
// make snapshot can't change one. Why says what would break.
func TestProtection(t *testing.T) {
	t.Parallel()
	const (
		trustLambda     = `[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}]`
		trustCodeDeploy = `[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"codedeploy.amazonaws.com"}}]`
		api             = "arn:aws:execute-api:eu-central-1:${AWS::AccountId}:${PlantApi}/*/*"
		stage           = "PlantApiApiGatewayDefaultStage"
	)
	defaults, everything := []stack{deploy(t, nil)}, []stack{deploy(t, everything(t))}
	both := slices.Concat(defaults, everything)
	for _, v := range []struct {
		stacks                    []stack
		resource, path, want, why string
	}{
		{both, "FunctionRole", "AssumeRolePolicyDocument.Statement", trustLambda,
			"others could write to the table as the function"},
		{both, "CodeDeployServiceRole", "AssumeRolePolicyDocument.Statement", trustCodeDeploy,
			"others could move traffic to another version"},
		{both, function + "AnyRequestPermission", "Principal", "apigateway.amazonaws.com",
			"others could invoke the function, without throttling and access log"},
		{both, function + "AnyRequestPermission", "SourceArn", api, "the API of another account could invoke the function"},
		{both, function + "Url", "AuthType", "", "a function URL bypasses throttling and access log"},
		{defaults, stage, "DefaultRouteSettings", `{"ThrottlingBurstLimit":100,"ThrottlingRateLimit":50}`,
			"without a limit anybody can run up the bill"},
		{defaults, "FunctionLogs", "RetentionInDays", "30",
			"the log contains users' IDs, which may not be kept longer unless somebody decides so"},
		{defaults, "AccessLogs", "RetentionInDays", "30",
			"the access log contains clients' addresses, which may not be kept longer unless somebody decides so"},

		{both, "UserPool", "AdminCreateUserConfig", `{"AllowAdminCreateUserOnly":true}`,
			"anybody could sign up and create plants"},
		{both, "UserPool", "AccountRecoverySetting.RecoveryMechanisms", `[{"Name":"admin_only","Priority":1}]`,
			"whoever reads a user's e-mail could take over the account"},
		{both, "UserPool", "Policies.PasswordPolicy.MinimumLength", "12", "only the length protects against guessing"},
		{both, "UserPool", "Policies.PasswordPolicy.TemporaryPasswordValidityDays", "7",
			"a forgotten invitation must expire"},
		{both, "UserClient", "ExplicitAuthFlows",
			`["ALLOW_USER_PASSWORD_AUTH","ALLOW_USER_SRP_AUTH","ALLOW_REFRESH_TOKEN_AUTH"]`,
			"other flows would let administrators or custom challenges sign a user in"},
		{both, "UserClient", "PreventUserExistenceErrors", "ENABLED", "the responses would reveal who is a user"},
		{both, "UserClient", "AccessTokenValidity", "60", "a stolen token would work longer"},
		{both, "ProgramClient", "AccessTokenValidity", "60", "a stolen token would work longer"},
		{both, "ProgramClient", "ExplicitAuthFlows", `["ALLOW_REFRESH_TOKEN_AUTH"]`,
			"users could sign in with it; an empty list would allow the default flows"},
		{everything, "ProgramClient", "AllowedOAuthFlows", `["client_credentials"]`,
			"other flows would let users sign in through the client"},

		// These can't be undone.
		{defaults, "ProgramClient", "AllowedOAuthFlowsUserPoolClient", "false",
			"without MachineClient programs get no tokens, but the client stays: its ID owns their plants"},
		{both, "ProgramClient", "GenerateSecret", "true",
			"anybody could get its tokens; and another value replaces the client, whose ID owns plants"},
		{both, "UserClient", "GenerateSecret", "false",
			"another value replaces the client, whose ID is in users' programs and pages; those can't keep a secret"},
		{both, "UserPool", "UsernameConfiguration", `{"CaseSensitive":false}`,
			"Alice and alice would be two users; a pool can't change this later"},
		{both, "UserPool", "DeletionProtection", "ACTIVE", "without the pool nobody can access their plants again"},
	} {
		for _, s := range v.stacks {
			if got := str(s.Resources[v.resource].Properties, strings.Split(v.path, ".")...); got != v.want {
				t.Errorf("template.yaml: %s of %s is %q, want %q: %s", v.path, v.resource, got, v.want, v.why)
				break
			}
		}
	}
	for _, s := range both {
		for name, r := range s.Resources {
			if r.Type != "AWS::DynamoDB::Table" {
				continue
			}
			if str(r.Properties, "DeletionProtectionEnabled") != "true" {
				t.Errorf("template.yaml: %s needs DeletionProtectionEnabled: a deleted table takes all plants with it", name)
			}
			if str(r.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != "true" {
				t.Errorf("template.yaml: %s needs PointInTimeRecoverySpecification: "+
					"plants deleted by mistake couldn't be restored", name)
			}
		}
	}
}

// PermissionsBoundary applies to every role, that of SAM's resources too.
func TestBoundary(t *testing.T) {
	t.Parallel()
	for name, r := range deploy(t, everything(t)).Resources {
		if r.Type == "AWS::IAM::Role" && str(r.Properties, "PermissionsBoundary") != otherValue["PermissionsBoundary"] {
			t.Errorf("template.yaml: %s has no PermissionsBoundary", name)
		}
	}
}

// Clients can't forge lines of the access log: API Gateway doesn't escape values.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	format := str(deploy(t, nil).Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings", "Format")
	v := regexp.MustCompile(`\$context\.(path|identity\.userAgent|domain\w+|customDomain)`).FindString(format)
	if v != "" || !json.Valid([]byte(format)) {
		t.Errorf("template.yaml: the format of the access log is not JSON, or contains %q, which clients choose: %s",
			v, format)
	}
}

// CloudFormation keeps what users' plants and tokens depend on, and versions, to which the
// alias can return. It keeps nothing else, since a kept name would block the next stack.
// The stack policy of docs/deployment.md keeps data from being replaced. It names types, since
// AWS refuses one that names a resource whose condition is false:
// https://github.com/sparkleformation/sfn/issues/238
func TestRetention(t *testing.T) {
	t.Parallel()
	users := []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient"}
	data := append(slices.Clone(users), "AWS::Logs::LogGroup")
	kept := append(slices.Clone(users), "AWS::Cognito::UserPoolResourceServer", "AWS::Lambda::Version")
	policy := regexp.MustCompile(`(?s)--stack-policy-body '(.*?)'`).FindString(readFile(t, "docs/deployment.md"))
	for _, kind := range data {
		if !strings.Contains(policy, `"`+kind+`"`) {
			t.Errorf("docs/deployment.md: the stack policy must name %s", kind)
		}
	}
	if strings.Contains(policy, "LogicalResourceId") {
		t.Error("docs/deployment.md: the stack policy names a resource, which not every stack has")
	}
	for name, r := range deploy(t, everything(t)).Resources {
		keep := slices.Contains(kept, r.Type)
		if keep != strings.HasPrefix(r.DeletionPolicy, "Retain") || keep && r.UpdateReplacePolicy != "Retain" {
			t.Errorf("template.yaml: %s has the DeletionPolicy %q and the UpdateReplacePolicy %q",
				name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if r.Type == "AWS::Cognito::UserPoolResourceServer" && r.DeletionPolicy == "Retain" {
			t.Errorf("template.yaml: after a rollback the identifier of %s isn't free: use RetainExceptOnCreate", name)
		}
	}
}
