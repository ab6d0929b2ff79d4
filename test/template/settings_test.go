package template

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/test/openapi"
)

// What protects users, plants and costs, by default and with other parameters.
func TestSettings(t *testing.T) {
	t.Parallel()
	const boundary = "arn:aws:iam::123456789012:policy/boundary"
	set := "LogRetention=7 ThrottlingRate=1 ThrottlingBurst=2 Tracing=true ReservedConcurrency=5 MachineClient=true PermissionsBoundary=" + boundary
	defaults, other := deploy(t, nil), deploy(t, overrides(set))
	for _, tt := range []struct {
		resource, path string // steps are separated by dots
		byDefault      string
		set            string // by the parameters above
	}{
		{"UserPool", "DeletionProtection", "ACTIVE", "ACTIVE"},
		{"UserPool", "AdminCreateUserConfig", `{"AllowAdminCreateUserOnly":true}`, `{"AllowAdminCreateUserOnly":true}`},
		{"UserPool", "AccountRecoverySetting.RecoveryMechanisms", `[{"Name":"admin_only","Priority":1}]`, `[{"Name":"admin_only","Priority":1}]`},
		{"UserPool", "UsernameConfiguration.CaseSensitive", "false", "false"},
		{"UserPool", "Policies.PasswordPolicy.MinimumLength", "12", "12"},
		{"UserClient", "PreventUserExistenceErrors", "ENABLED", "ENABLED"},
		{"UserClient", "AccessTokenValidity", "60", "60"},
		{"UserClient", "TokenValidityUnits.AccessToken", "minutes", "minutes"},
		{"UserClient", "AllowedOAuthFlows", "", ""},
		{"ProgramClient", "ExplicitAuthFlows", `["ALLOW_REFRESH_TOKEN_AUTH"]`, `["ALLOW_REFRESH_TOKEN_AUTH"]`},
		{"ProgramClient", "GenerateSecret", "true", "true"},
		{"ProgramClient", "AccessTokenValidity", "60", "60"},
		{"ProgramClient", "TokenValidityUnits.AccessToken", "minutes", "minutes"},
		{"ProgramClient", "AllowedOAuthFlowsUserPoolClient", "false", "true"},
		{"ProgramClient", "AllowedOAuthFlows", "", `["client_credentials"]`},
		{"TokenDomain", "Domain", "", "plants-id"}, // unique in the region, by the stack's id
		{"FunctionLogs", "RetentionInDays", "30", "7"},
		{"AccessLogs", "RetentionInDays", "30", "7"},
		{"PlantApi", "Body.paths.$default.x-amazon-apigateway-any-method.isDefaultRoute", "true", "true"},
		{"PlantApi", "Body.paths.$default.x-amazon-apigateway-any-method.x-amazon-apigateway-integration.payloadFormatVersion", "2.0", "2.0"},
		{"PlantApiApiGatewayDefaultStage", "AutoDeploy", "true", "true"},
		{"PlantApiApiGatewayDefaultStage", "DefaultRouteSettings.ThrottlingRateLimit", "50", "1"},
		{"PlantApiApiGatewayDefaultStage", "DefaultRouteSettings.ThrottlingBurstLimit", "100", "2"},
		{"PlantFunction", "LoggingConfig", `{"ApplicationLogLevel":"TRACE","LogFormat":"JSON","LogGroup":"${FunctionLogs}","SystemLogLevel":"INFO"}`,
			`{"ApplicationLogLevel":"TRACE","LogFormat":"JSON","LogGroup":"${FunctionLogs}","SystemLogLevel":"INFO"}`},
		{"PlantFunction", "TracingConfig.Mode", "PassThrough", "Active"},
		{"PlantFunction", "ReservedConcurrentExecutions", "", "5"},
		{"PlantFunction", "Timeout", "10", "10"}, // 500 ms more than a request's own limit, and less than API Gateway's 30 s
		{"PlantFunction", "MemorySize", "256", "256"},
		{"HookFunction", "Timeout", "60", "60"}, // more than the timeout in cmd/hook
	} {
		var path []any
		for step := range strings.SplitSeq(tt.path, ".") {
			path = append(path, step)
		}
		for parameters, want := range map[*stack]string{&defaults: tt.byDefault, &other: tt.set} {
			if got := str(parameters.Resources[tt.resource].Properties, path...); got != want {
				t.Errorf("template.yaml: %s of %s is %s, want %s", tt.path, tt.resource, got, want)
			}
		}
	}
	for name, r := range other.Resources {
		byDefault, set := str(defaults.Resources[name].Properties, "PermissionsBoundary"), str(r.Properties, "PermissionsBoundary")
		if r.Type == "AWS::IAM::Role" && (byDefault != "" || set != boundary) {
			t.Errorf("template.yaml: %s has the PermissionsBoundary %q by default, and %q with another one", name, byDefault, set)
		}
	}
}

// The user pool has the scopes of the routes, and the client of programs may use them.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := deploy(t, overrides("MachineClient=true"))
	var defined []string
	for _, scope := range list(s.Resources["PlantScopes"].Properties, "Scopes") {
		defined = append(defined, str(s.Resources["PlantScopes"].Properties, "Identifier")+"/"+str(scope, "ScopeName"))
	}
	slices.Sort(defined)
	allowed := slices.Sorted(slices.Values(oneOrMore(at(s.Resources["ProgramClient"].Properties, "AllowedOAuthScopes"))))
	if want := handlers.Scopes(); !slices.Equal(defined, want) || !slices.Equal(allowed, want) {
		t.Errorf("template.yaml: PlantScopes defines %q, and ProgramClient may use %q; the routes have %q", defined, allowed, want)
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
	d := openapi.Read()
	use := []string{"Authorization", "Content-Type"}
	for _, op := range append(d.Operations, d.Other) {
		if op != d.Other {
			use = append(use, op.Method)
		}
		for _, p := range op.Parameters {
			if p.In == "header" {
				use = append(use, p.Name)
			}
		}
		for _, resp := range op.Responses {
			use = slices.AppendSeq(use, maps.Keys(resp.Headers))
		}
	}
	slices.Sort(use)
	for _, name := range slices.Compact(use) {
		everyPage := name == "Cache-Control" || name == "X-Content-Type-Options" // may read the one, and needs not read the other
		if !everyPage && !strings.Contains(str(cors), `"`+name+`"`) {
			t.Errorf("template.yaml: add %s to CorsConfiguration: api/openapi.yaml documents it", name)
		}
	}
}

// Clients can't forge lines of the access log: API Gateway doesn't escape values.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	format := str(deploy(t, nil).Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings", "Format")
	if v := regexp.MustCompile(`\$context\.(path|identity\.userAgent|domain\w+|customDomain)`).FindString(format); v != "" || format == "" {
		t.Errorf("template.yaml: remove %q from the format of the access log: clients choose the value", v)
	}
}
