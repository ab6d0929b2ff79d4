package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/plantstore/internal/config"
)

// report tells of a fault of the template.
type report func(format string, args ...any)

const function = "PlantFunction"

// checkFunction finds a function that isn't the program's, and requests that
// don't go to its alias.
func checkFunction(s *stack, _ program, report report) {
	properties := object(s.resources, function, "Properties")
	for key, want := range map[string]string{
		"Runtime":       "provided.al2023",
		"Handler":       "bootstrap",
		"Timeout":       "10",
		"Architectures": `["` + s.parameters["Architecture"] + `"]`,
		"LoggingConfig": `{"ApplicationLogLevel":"TRACE","LogFormat":"JSON","LogGroup":"${FunctionLogs}","SystemLogLevel":"INFO"}`,
	} {
		if got := str(properties, key); got != want {
			report("the function's %s is %s, want %s", key, got, want)
		}
	}
	if got := str(s.resources, function, "Metadata", "BuildMethod"); got != "makefile" {
		report("the function is built by %q, want makefile", got)
	}

	integration := object(s.resources, "PlantApi", "Properties", "Body", "paths", "$default", "x-amazon-apigateway-any-method")
	uri := str(integration, "x-amazon-apigateway-integration", "uri")
	if !strings.Contains(uri, "/functions/${"+function+"Aliaslive}/invocations") {
		report("the route $default leads to %q, want the alias live", uri)
	}
	if got := str(integration, "x-amazon-apigateway-integration", "payloadFormatVersion"); got != "2.0" {
		report("the payload format is %q, want 2.0", got)
	}
	for _, name := range ofType(s.resources, "AWS::Lambda::Permission") {
		p := object(s.resources, name, "Properties")
		if str(p, "FunctionName") != "${"+function+"Aliaslive}" || !strings.Contains(str(p, "SourceArn"), ":${PlantApi}/") {
			report("%s lets %s be called by %s, want the alias by the API alone", name, str(p, "FunctionName"), str(p, "SourceArn"))
		}
	}
}

// checkEnvironment finds variables that the program doesn't read, those that it
// reads and sam local could not set, and values that would keep it from starting.
func checkEnvironment(s *stack, p program, report report) {
	variables := object(s.resources, function, "Properties", "Environment", "Variables")
	names := slices.Sorted(maps.Keys(variables))
	// Trust in fewer roots than the system's is for our own issuer alone, and
	// takes both variables: Go reads the files of the one and the folders of
	// the other.
	narrowed := str(variables, "SSL_CERT_FILE") != "" || str(variables, "SSL_CERT_DIR") != ""
	if narrowed && (str(variables, "SSL_CERT_FILE") == "" || str(variables, "SSL_CERT_DIR") == "" || s.parameters["TokenIssuer"] != "") {
		report("SSL_CERT_FILE and SSL_CERT_DIR must both be set, and only with our own user pool")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "SSL_CERT_FILE" || name == "SSL_CERT_DIR" })
	if !slices.Equal(names, p.environment) {
		report("the template sets %q, the program reads %q", names, p.environment)
	}

	issuer, audience := s.parameters["TokenIssuer"], s.parameters["TokenAudience"]
	if issuer == "" {
		issuer, audience = "${UserPool.ProviderURL}", "${UserClient}"
		if s.parameters["MachineClient"] == "true" {
			audience += ",${ProgramClient}"
		}
	}
	for name, want := range map[string]string{
		config.TableName:            "${PlantTable}",
		config.TokenIssuer:          issuer,
		config.TokenAudience:        audience,
		config.TokenJWKSURL:         s.parameters["TokenJwksUrl"],
		config.TokenJWKS:            "",
		config.RequireScopes:        s.parameters["RequireScopes"],
		config.LogLevel:             s.parameters["LogLevel"],
		"AWS_ENDPOINT_URL_DYNAMODB": "",
		"GOMAXPROCS":                "1",
	} {
		if got := str(variables, name); got != want {
			report("%s is %q, want %q", name, got, want)
		}
	}

	real := strings.NewReplacer(
		"${PlantTable}", "plants-PlantTable-1A2B3C",
		"${UserPool.ProviderURL}", "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_1a2B3c",
		"${UserClient}", "1example23456789", "${ProgramClient}", "2example23456789")
	_, err := config.FromEnv(func(name string) string { return real.Replace(str(variables, name)) })
	if err != nil {
		report("the program doesn't start: %v", err)
	}
}

// maxDescription is the length of a version's description that Lambda takes.
// See https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html.
const maxDescription = 256

// checkVersion finds a parameter whose new value would be deployed without
// reaching the alias.
func checkVersion(s *stack, _ program, report report) {
	versions := ofType(s.resources, "AWS::Lambda::Version")
	if len(versions) != 1 {
		report("there are %d versions, want 1", len(versions))
		return
	}
	// Of the template, since in the stack no parameter is left.
	description := at(s.template, "Resources", versions[0], "Properties", "Description")
	described := parameters(s.template, description)
	read := parameters(s.template, object(s.template, "Resources", function, "Properties"))
	if !slices.Equal(described, read) {
		report("VersionDescription has the parameters %q, the function reads %q", described, read)
	}

	longest := map[string]string{}
	for _, name := range described {
		p := object(s.template, "Parameters", name)
		n, limited := p["MaxLength"].(float64)
		for _, v := range list(p, "AllowedValues") {
			n, limited = max(n, float64(len(str(v)))), true
		}
		if !limited {
			report("VersionDescription has room for %d characters, and %s has no MaxLength", maxDescription, name)
		}
		longest[name] = strings.Repeat("x", int(n))
	}
	if n := len(str(evaluate(s.template, longest).value(description))); n > maxDescription {
		report("VersionDescription may have %d characters, and Lambda takes %d", n, maxDescription)
	}
	if alias := str(s.resources, function+"Aliaslive", "Properties", "FunctionVersion"); alias != "${"+versions[0]+".Version}" {
		report("the alias is of %s, want the new version", alias)
	}
}

// parameters returns the parameters that v depends on, by way of conditions too.
func parameters(template node, v any) []string {
	found := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if at(template, "Parameters", name) != nil {
			found[name] = true
		} else if c := at(template, "Conditions", name); c != nil {
			mentions(c, visit)
		}
	}
	mentions(v, visit)
	return slices.Sorted(maps.Keys(found))
}

// checkCircles finds resources that wait for each other, which CloudFormation
// refuses and cfn-lint doesn't see where the way leads through an UpdatePolicy.
func checkCircles(s *stack, _ program, report report) {
	resources := object(s.template, "Resources")
	const underway, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(name string)
	visit = func(name string) {
		r, ok := resources[name]
		if !ok || state[name] == done {
			return
		}
		if state[name] == underway {
			report("a circle: %s", strings.Join(append(path[slices.Index(path, name):], name), " needs "))
			return
		}
		state[name] = underway
		path = append(path, name)
		mentions(r, visit)
		for _, d := range strings.Fields(strings.Trim(fmt.Sprint(at(r, "DependsOn")), "[]")) {
			visit(d)
		}
		path = path[:len(path)-1]
		state[name] = done
	}
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		visit(name)
	}
}
