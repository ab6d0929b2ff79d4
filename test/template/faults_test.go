package template

import (
	"strings"
	"testing"
)

// A change is made in one place of the template. A nil value removes.
type change struct {
	path  []any
	value any
}

func to(value any, path ...any) []change { return []change{{path, value}} }

func of(resource string, path ...any) []any {
	return append([]any{"Resources", resource, "Properties"}, path...)
}

// faults are templates that are wrong in one place, and what the checks should
// say of each.
var faults = []struct {
	check      string
	changes    []change
	parameters map[string]string
	want       string
}{
	{"function", to("provided.al2", of(function, "Runtime")...), nil, "Runtime is provided.al2,"},
	{"function", to(29.0, of(function, "Timeout")...), nil, "Timeout is 29"},
	{"function", to([]any{"arm64"}, of(function, "Architectures")...), map[string]string{"Architecture": "x86_64"}, `["arm64"], want ["x86_64"]`},
	{"function", to("Text", of(function, "LoggingConfig", "LogFormat")...), nil, "LoggingConfig"},
	{"function", to(nil, "Resources", function, "Metadata"), nil, "want makefile"},
	{"function", to("2", of(function, "Events", "AnyRequest", "Properties", "PayloadFormatVersion")...), nil, "payload format"},
	{"function", to("other", of(function, "AutoPublishAlias")...), nil, "want the alias live"},
	{"function", to(node{"Type": "AWS::Lambda::Permission", "Properties": node{
		"Action": "lambda:InvokeFunction", "FunctionName": node{"Ref": function}, "Principal": "*"}}, "Resources", "Anybody"), nil, "Anybody lets"},

	{"environment", to(nil, of(function, "Environment", "Variables", "TOKEN_JWKS")...), nil, "the program reads"},
	{"environment", to("x", of(function, "Environment", "Variables", "STAGE")...), nil, "the program reads"},
	{"environment", to("plants", of(function, "Environment", "Variables", "TABLE_NAME")...), nil, `TABLE_NAME is "plants"`},
	{"environment", to(node{"Ref": "TokenIssuer"}, of(function, "Environment", "Variables", "TOKEN_ISSUER")...), nil, `TOKEN_ISSUER is ""`},
	{"environment", to(node{"Ref": "UserClient"}, of(function, "Environment", "Variables", "TOKEN_AUDIENCE")...),
		map[string]string{"MachineClient": "true"}, "ProgramClient"},
	{"environment", to("loud", of(function, "Environment", "Variables", "LOG_LEVEL")...), nil, "doesn't start"},
	{"environment", to(nil, of(function, "Environment", "Variables", "SSL_CERT_DIR")...), nil, "must both be set"},
	{"environment", []change{
		{of(function, "Environment", "Variables", "SSL_CERT_FILE"), "roots.pem"},
		{of(function, "Environment", "Variables", "SSL_CERT_DIR"), "none"},
	}, map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "a"}, "only with our own"},

	{"version", to(nil, of(function, "VersionDescription")...), nil, "has the parameters []"},
	{"version", to(node{"Fn::Sub": "${Architecture}|${LogLevel}|${RequireScopes}|${MachineClient}|${TokenIssuer}|${TokenAudience}"},
		of(function, "VersionDescription")...), nil, "the function reads"},
	{"version", to(node{"Ref": "ThrottlingRate"}, of(function, "Environment", "Variables", "GOGC")...), nil, "the function reads"},
	{"version", to(nil, "Parameters", "TokenAudience", "MaxLength"), nil, "TokenAudience has no MaxLength"},
	{"version", to(91.0, "Parameters", "TokenJwksUrl", "MaxLength"), nil, "may have 257 characters"},
	{"version", []change{
		{of(function, "AutoPublishAlias"), nil},
		{of(function, "DeploymentPreference"), nil},
	}, nil, "0 versions"},

	{"circles", to(node{"Ref": "ApiFailures"}, of(function, "DeploymentPreference", "Alarms", 1)...), nil,
		"PlantApi needs PlantFunctionAliaslive needs PlantFunctionDeploymentGroup needs ApiFailures"},
	{"circles", to("PlantFunction", "Resources", "FunctionRole", "DependsOn"), nil, "needs FunctionRole"},

	{"table", to("S", of("PlantTable", "AttributeDefinitions", 0, "AttributeType")...), nil, "AttributeDefinitions"},
	{"table", to("owner", of("PlantTable", "KeySchema", 0, "AttributeName")...), nil, "KeySchema"},
	{"table", to("by-owner", of("PlantTable", "GlobalSecondaryIndexes", 0, "IndexName")...), nil, "by-owner"},
	{"table", to([]any{"name"}, of("PlantTable", "GlobalSecondaryIndexes", 0, "Projection", "NonKeyAttributes")...), nil, "NonKeyAttributes"},
	{"table", to("PROVISIONED", of("PlantTable", "BillingMode")...), nil, "BillingMode"},
	{"table", to(node{"StreamViewType": "KEYS_ONLY"}, of("PlantTable", "StreamSpecification")...), nil, "StreamSpecification"},

	{"retention", to("Delete", "Resources", "PlantTable", "DeletionPolicy"), nil, `DeletionPolicy of PlantTable is "Delete"`},
	{"retention", to(nil, "Resources", "PlantTable", "UpdateReplacePolicy"), nil, `UpdateReplacePolicy of PlantTable is ""`},
	{"retention", to(nil, "Resources", "UserPool", "DeletionPolicy"), nil, "DeletionPolicy of UserPool"},
	{"retention", to(false, of("PlantTable", "DeletionProtectionEnabled")...), nil, "table has no deletion protection"},
	{"retention", to(nil, of("PlantTable", "PointInTimeRecoverySpecification")...), nil, "no point-in-time recovery"},
	{"retention", to("INACTIVE", of("UserPool", "DeletionProtection")...), nil, "pool has no deletion protection"},
	{"retention", to(nil, of("FunctionLogs", "RetentionInDays")...), nil, "FunctionLogs keeps"},
	{"retention", to(7.0, of("AccessLogs", "RetentionInDays")...), nil, "AccessLogs keeps"},

	{"permissions", to(nil, of(function, "Role")...), nil, "the function's role is"},
	{"permissions", to([]any{"dynamodb:PutItem"}, of("FunctionRole", "Policies", 0, "PolicyDocument", "Statement", 0, "Action")...), nil, "but it does"},
	{"permissions", to("dynamodb:*", of("FunctionRole", "Policies", 0, "PolicyDocument", "Statement", 1, "Action")...), nil, "dynamodb:*"},
	{"permissions", to("*", of("FunctionRole", "Policies", 0, "PolicyDocument", "Statement", 1, "Resource")...), nil, "dynamodb:Query *"},
	{"permissions", to(node{"Fn::Sub": "${PlantTable.Arn}/index/*"},
		of("FunctionRole", "Policies", 0, "PolicyDocument", "Statement", 1, "Resource")...), nil, "/index/*"},
	{"permissions", to("*", of("FunctionRole", "Policies", 1, "PolicyDocument", "Statement", 0, "Resource")...), nil, "logs:PutLogEvents *"},
	{"permissions", to(node{"Bool": node{}}, of("FunctionRole", "Policies", 0, "PolicyDocument", "Statement", 0, "Condition")...), nil, "don't understand"},
	{"permissions", to([]any{"arn:aws:iam::aws:policy/AdministratorAccess"}, of("FunctionRole", "ManagedPolicyArns")...), nil, "AdministratorAccess"},
	{"permissions", to(node{"AWS": "*"}, of("FunctionRole", "AssumeRolePolicyDocument", "Statement", 0, "Principal")...), nil, "the role is for"},
	{"permissions", to(node{"Type": "AWS::IAM::Policy", "Properties": node{"PolicyName": "more", "PolicyDocument": node{}}}, "Resources", "More"), nil, "More may"},

	{"names", to("plants", of("PlantTable", "TableName")...), nil, "PlantTable has the fixed TableName"},
	{"names", to(node{"Ref": "AWS::StackName"}, of("PlantTable", "TableName")...), nil, "PlantTable has the fixed TableName"},
	{"names", to("/aws/vendedlogs/plants", of("AccessLogs", "LogGroupName")...), nil, "LogGroupName"},
	{"names", to("plants", of(function, "FunctionName")...), nil, "PlantFunction has the fixed FunctionName"},

	{"parameters", to(nil, "Parameters", "LogLevel", "Description"), nil, "LogLevel has no description"},
	{"parameters", to(nil, "Parameters", "LogLevel", "Default"), nil, "LogLevel has no default"},
	{"parameters", to("loud", "Parameters", "LogLevel", "Default"), nil, "loud, is not among"},
	{"parameters", to(nil, "Parameters", "CorsOrigins", "AllowedPattern"), nil, "CorsOrigins takes any value"},
	{"parameters", to(".*", "Parameters", "CorsOrigins", "AllowedPattern"), nil, "not one of the whole value"},
	{"parameters", to("example.com", "Parameters", "CorsOrigins", "Default"), nil, "doesn't match"},
	{"parameters", to(nil, "Parameters", "ThrottlingRate", "MaxValue"), nil, "ThrottlingRate takes any value"},

	{"api", to(nil, of("PlantApi", "DefaultRouteSettings")...), nil, "ThrottlingRateLimit"},
	{"api", to(1.0, of("PlantApi", "DefaultRouteSettings", "ThrottlingBurstLimit")...), nil, "ThrottlingBurstLimit"},
	{"api", to("prod", of("PlantApi", "StageName")...), nil, "the stage is"},
	{"api", to(true, of("PlantApi", "CorsConfiguration")...), nil, "by default"},
	{"api", to([]any{"GET"}, of("PlantApi", "CorsConfiguration", "Fn::If", 1, "AllowMethods")...), map[string]string{"CorsOrigins": "*"}, "allowMethods"},
	{"api", to(true, of("PlantApi", "CorsConfiguration", "Fn::If", 1, "AllowCredentials")...),
		map[string]string{"CorsOrigins": "https://a.example"}, "credentials"},
	{"api", to(node{"Type": "HttpApi", "Properties": node{"ApiId": node{"Ref": "PlantApi"}, "Path": "/x", "Method": "GET"}},
		of(function, "Events", "Second")...), nil, "the routes are"},

	{"access log", to(nil, of("PlantApi", "AccessLogSettings")...), nil, "access logs go to"},
	{"access log", to(`{"request_id":"$context.requestId","path":"$context.path"}`, of("PlantApi", "AccessLogSettings", "Format")...), nil, "through $context.path"},
	{"access log", to(`$context.requestId $context.status`, of("PlantApi", "AccessLogSettings", "Format")...), nil, "not an object of strings"},
	{"access log", to("{\n}", of("PlantApi", "AccessLogSettings", "Format")...), nil, "more than one line"},
	{"access log", to(`{}`, of("PlantApi", "AccessLogSettings", "Format")...), nil, "no function_request_id"},
	{"access log", to(nil, of("AccessLogs", "LogGroupName")...), nil, "vendedlogs"},

	{"alarms", to(node{"Ref": function}, of("FunctionErrors", "Dimensions", 1, "Value")...), nil, "AWS/Lambda Errors"},
	{"alarms", to("5XXError", of("ApiFailures", "Metrics", 1, "MetricStat", "Metric", "MetricName")...), nil, "AWS/ApiGateway 5xx"},
	{"alarms", to("x", of("ApiFailures", "Metrics", 2, "MetricStat", "Metric", "Dimensions", 0, "Value")...), nil, "AWS/ApiGateway Count"},
	{"alarms", to(nil, of("FunctionErrors", "TreatMissingData")...), nil, "without any request FunctionErrors"},
	{"alarms", to(3.0, of("ApiFailures", "EvaluationPeriods")...), nil, "ApiFailures doesn't go off"},
	{"alarms", to("other", of("ApiFailures", "AlarmName")...), nil, "heeds the alarms"},
	{"alarms", to([]any{node{"Ref": "FunctionErrors"}}, of(function, "DeploymentPreference", "Alarms")...), nil, "heeds the alarms"},
	{"alarms", to("AllAtOnce", of(function, "DeploymentPreference", "Type")...), nil, "LambdaAllAtOnce"},
	{"alarms", to(nil, of(function, "DeploymentPreference")...), nil, "undone by"},

	{"tokens", to(nil, "Resources", "UserPool", "Condition"), map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "a"}, "UserPool is there: true"},
	{"tokens", to(node{"Fn::Equals": []any{"a", "a"}}, "Conditions", "HasMachineClient"), nil, "TokenDomain is there: true"},
	{"tokens", to(false, of("UserPool", "AdminCreateUserConfig", "AllowAdminCreateUserOnly")...), nil, "anybody may sign up"},
	{"tokens", to(6.0, of("UserPool", "Policies", "PasswordPolicy", "MinimumLength")...), nil, "passwords have"},
	{"tokens", to(true, of("UserClient", "GenerateSecret")...), nil, "has a secret"},
	{"tokens", to(nil, of("UserClient", "PreventUserExistenceErrors")...), nil, "which users exist"},
	{"tokens", to([]any{"ALLOW_USER_SRP_AUTH"}, of("UserClient", "ExplicitAuthFlows")...), nil, "README"},
	{"tokens", to([]any{"implicit"}, of("UserClient", "AllowedOAuthFlows")...), nil, "implicit"},
	{"tokens", to(nil, of("ProgramClient", "ExplicitAuthFlows")...), map[string]string{"MachineClient": "true"}, "ExplicitAuthFlows"},
	{"tokens", to("plant", of("PlantScopes", "Identifier")...), map[string]string{"MachineClient": "true"}, "plant/read"},
	{"tokens", to(nil, "Resources", "ProgramClient", "DependsOn"), map[string]string{"MachineClient": "true"}, "before its scopes"},

	{"outputs", to(nil, "Outputs", "ClientId"), nil, "the outputs are"},
	{"outputs", to(node{"Value": "x"}, "Outputs", "More"), nil, "the outputs are"},
}

func TestFaultsAreFound(t *testing.T) {
	p := readProgram(t)
	template := source(t)
	var jobs []job
	for _, f := range faults {
		wrong := clone(t, template)
		for _, c := range f.changes {
			apply(t, wrong, c)
		}
		jobs = append(jobs, job{Translate: wrong, Parameters: f.parameters})
	}
	tried := map[string]bool{}
	for i, r := range do(t, jobs...) {
		f := faults[i]
		tried[f.check] = true
		if r.Error != "" {
			t.Errorf("%s: %v is refused by the translator: %s", f.check, f.changes, r.Error)
			continue
		}
		found := checks[f.check].findings(evaluate(r.Template, f.parameters), p)
		if !strings.Contains(strings.Join(found, "\n"), f.want) {
			t.Errorf("%s: with %v the findings are %q, want %q", f.check, f.changes, found, f.want)
		}
	}
	for name := range checks {
		if !tried[name] {
			t.Errorf("%s was never seen to find anything", name)
		}
	}
}

// apply makes the change, which must be one.
func apply(t *testing.T, template node, c change) {
	t.Helper()
	before := str(template)
	last := len(c.path) - 1
	switch key := c.path[last].(type) {
	case string:
		parent := object(template, c.path[:last]...)
		if parent == nil {
			t.Fatalf("the template has no %v", c.path[:last])
		}
		parent[key] = c.value
		if c.value == nil {
			delete(parent, key)
		}
	case int:
		list(template, c.path[:last]...)[key] = c.value
	}
	if str(template) == before {
		t.Fatalf("%v is %s already", c.path, str(c.value))
	}
}
