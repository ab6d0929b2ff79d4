package template

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Other values than the default of the parameters without AllowedValues.
var otherValue = map[string]string{
	"TokenIssuer":     "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
	"TokenAudience":   "1h57kf5cpq17m0eml12example,3n4b5urk1ft4fl3mg5e62d9ado", // clients of a Cognito user pool
	"TokenJwksUrl":    "https://a.example/discovery/v2.0/keys?appid=1",
	"AlarmTopic":      topic,
	"CorsOrigins":     "https://a.example,http://localhost:3000",
	"ThrottlingRate":  "1",
	"ThrottlingBurst": "1",

	"DomainName":        "plants.example.com",
	"DomainCertificate": "arn:aws:acm:eu-central-1:123456789012:certificate/1",

	"PermissionsBoundary": "arn:aws:iam::123456789012:policy/boundary",
}

// otherValues returns a value other than the default of each parameter.
func otherValues(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, p := range deploy(t, nil).Parameters {
		all[name] = otherValue[name]
		if strings.HasPrefix(name, "Existing") {
			all[name] = "restored"
		}
		for _, v := range p.AllowedValues {
			if str(v) != str(p.Default) {
				all[name] = str(v)
			}
		}
		if all[name] == "" {
			t.Errorf("add a value of %s to otherValue in version_test.go", name)
		}
	}
	return all
}

// revision is a long one, of files that aren't committed.
const revision = "09d7e83+.261123061200"

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
	for name, value := range otherValues(t) {
		base, other := map[string]string{}, map[string]string{}
		if strings.HasPrefix(name, "Token") {
			base, other = otherIssuer, maps.Clone(otherIssuer)
		}
		if strings.HasPrefix(name, "Domain") {
			base = overrides("DomainName=a.example DomainCertificate=arn:aws:acm:eu-central-1:123456789012:certificate/0")
			other = maps.Clone(base)
		}
		other[name] = value
		checkUpdate(t, name, deploy(t, base), deploy(t, other))
	}
	// With the stack's own table nothing changes that the function reads.
	anyName := regexp.MustCompile("AllowedPattern: .*").ReplaceAllString(readFile(t, "template.yaml"), "")
	own := map[string]string{"ExistingTable": "${PlantTable}"}
	checkUpdate(t, "ExistingTable", deploy(t, nil), do(t, job{Template: anyName, Parameters: own}))
	// Each build makes another version, even of the same code.
	build := job{Template: strings.Replace(readFile(t, "template.yaml"), "Revision: unknown", `Revision: "`+revision+`"`, 1)}
	checkUpdate(t, "Revision", deploy(t, nil), do(t, build))
	if output := str(do(t, build).Outputs["Revision"], "Value"); output != revision || deploy(t, nil).version() == do(t, build).version() {
		t.Errorf("template.yaml: another revision makes no other version, or the output Revision is %q", output)
	}
	// An edit makes another version, too, with AutoPublishAliasAllProperties.
	edited := job{Template: strings.Replace(readFile(t, "template.yaml"), "Timeout: 10", "Timeout: 11", 1)}
	checkUpdate(t, "Timeout", deploy(t, nil), do(t, edited))
}

// checkUpdate checks the update that a new value of the parameter makes, and so
// the one back. The function reaches the alias only by another version, and Lambda
// publishes one only if the function changes. Nothing else is replaced, since a
// replacement needs another name, but the policy, which the previous version needs
// until it has no more traffic.
func checkUpdate(t *testing.T, parameter string, before, after stack) {
	t.Helper()
	if changed := str(before.Resources[function].Properties) != str(after.Resources[function].Properties); changed != (before.version() != after.version()) {
		t.Errorf("template.yaml: with another %s, %s changes: %t, but its version: %t; Description and VersionDescription must have ${%[1]s}",
			parameter, function, changed, !changed)
	}
	for name, r := range before.Resources {
		replaced := slices.ContainsFunc(before.CreateOnly[r.Type], func(property string) bool {
			return after.Resources[name].Type != "" && str(r.Properties, property) != str(after.Resources[name].Properties, property)
		})
		if want := name == strings.TrimPrefix(parameter, "Existing")+"Policy" || name == "ApiDomain" && parameter == "DomainName"; replaced != want && r.Type != "AWS::Lambda::Version" {
			t.Errorf("template.yaml: with another %s, %s is replaced: %t, want %t", parameter, name, replaced, want)
		}
	}
}

// Even URLs as long as those of Azure AD B2C fit into the description.
// See https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html.
func TestLongIssuer(t *testing.T) {
	t.Parallel()
	const maxDescription = 256
	const tenant = "https://contosocustomers.b2clogin.com/11111111-2222-3333-4444-555555555555"
	built := strings.Replace(readFile(t, "template.yaml"), "Revision: unknown", "Revision: "+revision, 1)
	s := do(t, job{Template: built, Parameters: map[string]string{
		"TokenIssuer":   tenant + "/v2.0/",
		"TokenAudience": "66666666-7777-8888-9999-000000000000",
		"TokenJwksUrl":  tenant + "/b2c_1_susi/discovery/v2.0/keys",
		"RequireScopes": "false",
	}})
	deploy(t, map[string]string{ // Entra External ID, with the longest name of a tenant
		"TokenIssuer":   "https://11111111-2222-3333-4444-555555555555.ciamlogin.com/11111111-2222-3333-4444-555555555555/v2.0",
		"TokenAudience": "66666666-7777-8888-9999-000000000000,api://plants",
	})
	if _, description, _ := strings.Cut(s.version(), " "); len(description) > maxDescription || !strings.HasPrefix(description, revision) {
		t.Errorf("template.yaml: VersionDescription has %d characters, Lambda takes %d: %s", len(description), maxDescription, description)
	}
}

// CloudFormation keeps what users' plants and tokens depend on, and versions, to which the
// alias can return. It keeps nothing else, since a kept name would block the next stack.
// The stack policy of docs/deployment.md keeps data from being replaced.
func TestRetention(t *testing.T) {
	t.Parallel()
	data := []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Logs::LogGroup"}
	page := readFile(t, "docs/deployment.md")
	kept := []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolResourceServer", "AWS::Lambda::Version"}
	for name, r := range deploy(t, nil).Resources {
		keep := slices.Contains(kept, r.Type)
		if keep != strings.HasPrefix(r.DeletionPolicy, "Retain") || keep && r.UpdateReplacePolicy != "Retain" {
			t.Errorf("template.yaml: %s has the DeletionPolicy %q and the UpdateReplacePolicy %q", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if slices.Contains(data, r.Type) && !strings.Contains(page, `"LogicalResourceId/`+name+`"`) {
			t.Errorf("docs/deployment.md: the stack policy must name %s", name)
		}
		if r.Type == "AWS::Cognito::UserPoolResourceServer" && r.DeletionPolicy == "Retain" {
			t.Errorf("template.yaml: after a rollback the identifier of %s isn't free: its DeletionPolicy must be RetainExceptOnCreate", name)
		}
	}
}
