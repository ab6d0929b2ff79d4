package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

// A setting is a value of a resource of the stack, or of its Outputs, that may not
// change, even if somebody writes the snapshots again: why says what would break. If with
// is empty, it holds with the defaults and with everything turned on; otherwise with
// these parameters.
type setting struct{ resource, path, with, want, why string }

func checkSettings(t *testing.T, settings []setting) {
	t.Helper()
	for _, s := range settings {
		stacks := []stack{deploy(t, overrides(s.with))}
		if s.with == "" {
			stacks = append(stacks, deploy(t, everything(t)))
		}
		for _, stack := range stacks {
			properties := stack.Resources[s.resource].Properties
			if s.resource == "Outputs" {
				properties = stack.Outputs
			}
			if got := str(properties, strings.Split(s.path, ".")...); got != s.want {
				t.Errorf("template.yaml: with %q, %s of %s is %s, want %s: %s", s.with, s.path, s.resource, got, s.want, s.why)
				break
			}
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const (
		trust   = `[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"%s.amazonaws.com"}}]`
		stage   = "PlantApiApiGatewayDefaultStage"
		route   = "Body.paths.$default.x-amazon-apigateway-any-method."
		domain  = "DomainName=plants.example.com DomainCertificate=arn:aws:acm:eu-central-1:123456789012:certificate/1"
		logging = `{"ApplicationLogLevel":"TRACE","LogFormat":"JSON","LogGroup":"${FunctionLogs}","SystemLogLevel":"INFO"}`
	)
	checkSettings(t, []setting{
		{"FunctionRole", "AssumeRolePolicyDocument.Statement", "", fmt.Sprintf(trust, "lambda"), "nobody else may write to the tables as the function"},
		{"CodeDeployServiceRole", "AssumeRolePolicyDocument.Statement", "", fmt.Sprintf(trust, "codedeploy"), "nobody else may move traffic"},
		{function + "AnyRequestPermission", "Principal", "", "apigateway.amazonaws.com", "only API Gateway may invoke the function without credentials"},
		{function + "AnyRequestPermission", "SourceArn", "", "arn:aws:execute-api:eu-central-1:${AWS::AccountId}:${PlantApi}/*/*", "another account's API may not invoke the function"},
		{function + "Url", "AuthType", "", "", "a function URL would bypass the API's throttling and its access log"},

		{function, "Timeout", "", "10", "requests get their own 504 half a second before it; docs/costs.md and clients count on 10 s, API Gateway allows 30 s"},
		{function, "MemorySize", "", "256", "the processor's share depends on it: the costs and the speed in docs/costs.md hold for this size"},
		{function, "LoggingConfig", "", logging, "LOG_LEVEL has filtered the lines already; alarms need the lines of the platform, retention needs this group"},
		{function, "ReservedConcurrentExecutions", "", "", "a new account has no concurrency to reserve"},
		{function, "TracingConfig.Mode", "LogLevel=info", "PassThrough", "traces cost"},
		{function, "TracingConfig.Mode", "Tracing=true", "Active", "the parameter must take effect"},

		{function + "DeploymentGroup", "AutoRollbackConfiguration", "", `{"Enabled":true,"Events":["DEPLOYMENT_FAILURE","DEPLOYMENT_STOP_ON_ALARM","DEPLOYMENT_STOP_ON_REQUEST"]}`, "a canary that fails must lose its traffic"},
		{function + "DeploymentGroup", "ServiceRoleArn", "", "${CodeDeployServiceRole.Arn}", "SAM's own role has no permissions boundary"},

		{"PlantApi", route + "isDefaultRoute", "", "true", "the function responds to unknown paths and to OPTIONS, too"},
		{"PlantApi", route + "x-amazon-apigateway-integration.payloadFormatVersion", "", "2.0", "internal/lambdahttp reads no other format"},
		{"PlantApi", route + "x-amazon-apigateway-integration.uri", "", "arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/${PlantFunctionAliaslive}/invocations", "traffic that bypasses the alias bypasses the canary"},
		{stage, "AutoDeploy", "", "true", "a changed API would not reach the stage"},
		{stage, "AccessLogSettings.DestinationArn", "", "arn:aws:logs:eu-central-1:${AWS::AccountId}:log-group:${AccessLogs}", "retention and the query for throttling in docs/operations.md need this group"},
		{stage, "DefaultRouteSettings", "LogLevel=info", `{"ThrottlingBurstLimit":100,"ThrottlingRateLimit":50}`, "without a limit anybody can run up the bill"},
		{stage, "DefaultRouteSettings", "ThrottlingRate=1 ThrottlingBurst=2", `{"ThrottlingBurstLimit":"2","ThrottlingRateLimit":"1"}`, "the parameters must take effect"},

		{"ApiMapping", "Stage", domain, "${PlantApiApiGatewayDefaultStage}", "the domain must lead to the stage"},
		{"ApiMapping", "DomainName", domain, "${ApiDomain}", "the domain must exist first"},
		{"ApiDomain", "DomainName", domain, "plants.example.com", "the parameter must take effect"},
		{"Outputs", "BaseUrl.Value", "LogLevel=info", "${PlantApi.ApiEndpoint}", "clients and the acceptance suite find the service there"},
		{"Outputs", "BaseUrl.Value", domain, "https://plants.example.com", "clients and the acceptance suite find the service there"},
		{"Outputs", "DomainTarget.Value", domain, "${ApiDomain.RegionalDomainName}", "the domain must lead to API Gateway"},

		{"FunctionLogs", "RetentionInDays", "LogRetention=7", "7", "logs have the users' subs: they may not be kept longer"},
		{"AccessLogs", "RetentionInDays", "LogRetention=7", "7", "the access log has addresses of clients: it may not be kept longer"},
		{"AccessLogs", "LogGroupName", "", "/aws/vendedlogs/plants/access", "another prefix fills the account's resource policy for logs"},
	})
}

// PermissionsBoundary applies to every role, that of SAM's resources too.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const boundary = "arn:aws:iam::123456789012:policy/boundary"
	for name, r := range deploy(t, overrides("PermissionsBoundary="+boundary)).Resources {
		if r.Type == "AWS::IAM::Role" && str(r.Properties, "PermissionsBoundary") != boundary {
			t.Errorf("template.yaml: %s has no PermissionsBoundary", name)
		}
	}
}

// Pages of the given origins, and of no others, may use everything that the
// OpenAPI document describes.
func TestCORS(t *testing.T) {
	t.Parallel()
	if got := str(deploy(t, nil).Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors"); got != "" {
		t.Errorf("template.yaml: without CorsOrigins the API has the CORS configuration %s", got)
	}
	s := deploy(t, overrides("CorsOrigins=https://a.example,https://b.example"))
	cors := at(s.Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors")
	if got := str(cors, "allowOrigins"); got != `["https://a.example","https://b.example"]` || at(cors, "allowCredentials") != nil {
		t.Errorf("template.yaml: CORS allows the origins %s, with credentials: %v", got, at(cors, "allowCredentials"))
	}
	use := map[string]bool{"Authorization": true, "Content-Type": true}
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		use[op.Method] = op != d.Other
		for _, p := range op.Parameters {
			use[p.Name] = p.In == "header"
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				use[name] = name != "Cache-Control" && name != "X-Content-Type-Options" // pages may read the one, and needn't read the other
			}
		}
	}
	for name, used := range use {
		if used && !strings.Contains(str(cors), `"`+name+`"`) {
			t.Errorf("template.yaml: add %s to CorsConfiguration: api/openapi.yaml documents it", name)
		}
	}
}

// Clients can't forge lines of the access log: API Gateway doesn't escape values.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	format := str(deploy(t, nil).Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings", "Format")
	if v := regexp.MustCompile(`\$context\.(path|identity\.userAgent|domain\w+|customDomain)`).FindString(format); v != "" || !json.Valid([]byte(format)) {
		t.Errorf("template.yaml: the format of the access log is not JSON, or has %q, which clients choose: %s", v, format)
	}
}

// ARNs fit the partition of the region.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for region, partition := range map[string]string{"cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov"} {
		s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: otherIssuer, Region: region})
		for name, r := range s.Resources {
			for _, arn := range regexp.MustCompile(`arn:([\w-]+):`).FindAllStringSubmatch(str(r.Properties), -1) {
				if arn[1] != partition {
					t.Errorf("template.yaml: in %s, %s has an ARN of the partition %s, want %s", region, name, arn[1], partition)
				}
			}
		}
		if len(s.Resources) == 0 {
			t.Errorf("template.yaml: in %s it is refused because of %q", region, s.Refused)
		}
	}
}

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

// CloudFormation refuses invalid parameters before it changes anything, and
// says which. Those without a reason are valid.
func TestRefused(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]string{
		"AlarmTopic=" + topic + ".fifo":   "AlarmTopic", // alarms can't notify it
		"CorsOrigins=*":                   "",
		"CorsOrigins=https://a.example/":  "CorsOrigins", // an origin has no path
		"CorsOrigins=https://u@a.example": "CorsOrigins",
		"ThrottlingRate=0":                "ThrottlingRate", // would stop the service
		"ExistingTable=a/b":               "ExistingTable",
		"PermissionsBoundary=boundary":    "PermissionsBoundary",
		"DomainName=plants.example.com":   "need each other",
		"DomainName=https://a.example/ DomainCertificate=arn:aws:acm:eu-central-1:123456789012:certificate/1": "DomainName",
		"DomainCertificate=arn:aws:acm:eu-central-1:123456789012:certificate/1":                               "need each other",

		// An issuer of one's own comes with its audience, and without what needs the pool.
		"TokenAudience=plants":                                             "need TokenIssuer",
		"TokenJwksUrl=https://a.example/keys":                              "need TokenIssuer",
		"TokenIssuer=https://a.example":                                    "TokenIssuer needs TokenAudience",
		"TokenIssuer=http://a.example TokenAudience=a":                     "TokenIssuer",
		"TokenIssuer=https://a|b TokenAudience=a":                          "TokenIssuer", // | separates values in Description
		"TokenIssuer=https://a.example TokenAudience=a MachineClient=true": "MachineClient needs",
	} {
		got := strings.Join(do(t, job{Template: readFile(t, "template.yaml"), Parameters: overrides(parameters)}).Refused, "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("template.yaml: %q is refused because of %q, want %q", parameters, got, want)
		}
	}
}
