package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Other values than the default of the parameters without AllowedValues.
var otherValue = map[string]string{
	"TokenIssuer":     "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
	"TokenAudience":   "animals",
	"TokenJwksUrl":    "https://a.example/discovery/v2.0/keys?appid=1",
	"ExistingTable":   "plants-restored",
	"AlarmTopic":      "arn:aws:sns:eu-central-1:123456789012:alarms",
	"CorsOrigins":     "https://a.example,http://localhost:3000",
	"ThrottlingRate":  "1",
	"ThrottlingBurst": "1",
}

// version returns what identifies the published version: CloudFormation makes
// another one for another logical id or description.
func (s stack) version() string {
	for name, r := range s.Resources {
		if r.Type == "AWS::Lambda::Version" {
			return name + " " + str(r.Properties, "Description")
		}
	}
	return ""
}

func TestNewValues(t *testing.T) {
	t.Parallel()
	for name, p := range deploy(t, nil).Parameters {
		value := otherValue[name]
		for _, v := range p.AllowedValues {
			if str(v) != str(p.Default) {
				value = str(v)
			}
		}
		if value == "" {
			t.Errorf("add a value of %s to otherValue in this test", name)
		}
		base, other := map[string]string{}, map[string]string{}
		if strings.HasPrefix(name, "Token") {
			base, other = otherIssuer, maps.Clone(otherIssuer)
		}
		other[name] = value
		checkUpdate(t, name, deploy(t, base), deploy(t, other))
	}
	// With the stack's own table or user pool nothing changes that the function reads.
	checkUpdate(t, "ExistingTable", deploy(t, nil), deploy(t, map[string]string{"ExistingTable": "${PlantTable}"}))
	checkUpdate(t, "TokenIssuer", deploy(t, nil), deploy(t, map[string]string{"TokenIssuer": "${UserPool.ProviderURL}", "TokenAudience": "${UserClient}"}))
}

// checkUpdate checks the update that a new value of the parameter makes, and so
// the one back. The function reaches the alias only by another version, and Lambda
// publishes one only if the function changes. Nothing else is replaced, since a
// replacement needs another name, but the policy, which the previous version needs
// until it has no more traffic.
func checkUpdate(t *testing.T, parameter string, before, after stack) {
	t.Helper()
	if changed := str(before.Resources[function].Properties) != str(after.Resources[function].Properties); changed != (before.version() != after.version()) {
		t.Errorf("%s: with another %s, %s changes: %t, but its version: %t; Description and VersionDescription must have ${%[2]s}",
			line(t, "VersionDescription:"), parameter, function, changed, !changed)
	}
	for name, r := range before.Resources {
		replaced := slices.ContainsFunc(before.CreateOnly[r.Type], func(property string) bool {
			return after.Resources[name].Type != "" && str(r.Properties, property) != str(after.Resources[name].Properties, property)
		})
		if want := name == "TablePolicy" && parameter == "ExistingTable"; replaced != want && r.Type != "AWS::Lambda::Version" {
			t.Errorf("template.yaml: with another %s, %s is replaced: %t, want %t", parameter, name, replaced, want)
		}
	}
}

// A property that is changed or added reaches the alias by another version.
func TestEditsMakeNewVersions(t *testing.T) {
	t.Parallel()
	const next = "  FunctionRole:\n" // after the function
	text, rest, _ := strings.Cut(readFile(t, "template.yaml"), next)
	before := deploy(t, nil)
	edited := []string{"Code", "Description", "Tags"} // new code gets another CodeUri; the template has no Tags
	for _, property := range []string{
		"Timeout: 11", "MemorySize: 512", "Runtime: provided.al2", "Handler: other", "EphemeralStorage: {Size: 1024}",
		"Layers: [!Sub arn:aws:lambda:eu-central-1:1:layer:extension:1]", "VpcConfig: {SubnetIds: [a]}",
		"Architectures: [x86_64]", "Environment: {}", "LoggingConfig: {LogFormat: JSON}", "Role: other", "Tracing: Active",
	} {
		name, _, _ := strings.Cut(property, ":")
		edited = append(edited, strings.Replace(name, "Tracing", "TracingConfig", 1))
		edit := regexp.MustCompile("(?m)^      "+name+":.*\n(        .*\n)*").ReplaceAllString(text, "")
		edit = strings.Replace(edit, "      CodeUri: .\n", "      CodeUri: .\n      "+property+"\n", 1)
		if after := do(t, job{Template: edit + next + rest}); after.version() == before.version() {
			t.Errorf("template.yaml: with %s the version stays the same", property)
		}
	}
	for name := range before.Resources[function].Properties {
		if !slices.Contains(edited, name) {
			t.Errorf("add an edit of %s to this test", name)
		}
	}
	for name, r := range before.Resources {
		if r.Type == "AWS::Lambda::Version" && (r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain") {
			t.Errorf("template.yaml: CloudFormation deletes %s when it is replaced, so that the alias can't return to it", name)
		}
	}
}

// Lambda takes descriptions of at most 256 characters.
// See https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html.
func TestVersionDescriptionIsShortEnough(t *testing.T) {
	t.Parallel()
	longest := map[string]string{}
	for name, p := range deploy(t, nil).Parameters {
		longest[name] = strings.Repeat("x", p.MaxLength)
		if p.MaxLength > 0 && !strings.Contains(p.ConstraintDescription, fmt.Sprintf("at most %d characters", p.MaxLength)) {
			t.Errorf("template.yaml: ConstraintDescription of %s lacks its MaxLength, %d", name, p.MaxLength)
		}
		if strings.HasPrefix(p.AllowedPattern, "^(https://") {
			longest[name] = "https://" + longest[name][len("https://"):]
		}
		if p.MaxLength == 0 && p.AllowedValues == nil {
			longest[name] = strings.Repeat("x", 300)
		}
		for _, v := range p.AllowedValues {
			if s := str(v); len(s) > len(longest[name]) {
				longest[name] = s
			}
		}
	}
	_, description, _ := strings.Cut(deploy(t, longest).version(), " ")
	if len(description) > 256 {
		t.Errorf("%s: may have %d characters, Lambda takes 256: lower MaxLength of a parameter", line(t, "VersionDescription:"), len(description))
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	s := deploy(t, nil)
	kept := []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient"}
	for name, r := range s.Resources {
		if slices.Contains(kept, r.Type) && (r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain") {
			t.Errorf("template.yaml: %s needs DeletionPolicy and UpdateReplacePolicy Retain: users' plants or tokens depend on it", name)
		}
	}
	if got := str(s.Resources["UserPool"].Properties, "DeletionProtection"); got != "ACTIVE" {
		t.Errorf("template.yaml: DeletionProtection of UserPool is %q, want ACTIVE", got)
	}
}
