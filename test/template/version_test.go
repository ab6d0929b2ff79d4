package template

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

var otherIssuer = overrides("TokenIssuer=https://example.eu.auth0.com/ TokenAudience=plants,api://plants")

// revision is a long one, of files that aren't committed.
const revision = "09d7e83+.261123061200"

// version returns what identifies the published version: CloudFormation makes
// another one for another logical id or description.
func (s stack) version() (id, description string) {
	for name, r := range s.Resources {
		if r.Type == "AWS::Lambda::Version" {
			return name, str(r.Properties, "Description")
		}
	}
	return "", ""
}

// A new value of a parameter that the function reads reaches clients.
func TestNewValues(t *testing.T) {
	t.Parallel()
	for name, value := range otherValues(t) {
		var before map[string]string
		switch {
		case strings.HasPrefix(name, "Token"):
			before = otherIssuer
		case strings.HasPrefix(name, "Domain"):
			before = overrides("DomainName=a.example DomainCertificate=" + certificate + "0")
		}
		after := map[string]string{name: value}
		for other, value := range before {
			after[other] = cmp.Or(after[other], value)
		}
		checkUpdate(t, name, deploy(t, before), deploy(t, after))
	}
}

// Each build makes another version, even of the same code, and so does an edit, with
// AutoPublishAliasAllProperties.
func TestNewBuild(t *testing.T) {
	t.Parallel()
	build := edit(t, "Revision: unknown", `Revision: "`+revision+`"`)
	checkUpdate(t, "Revision", deploy(t, nil), build)
	_, description := build.version()
	if !strings.HasPrefix(description, revision+"|") || str(build.Outputs["Revision"], "Value") != revision {
		t.Errorf("template.yaml: the revision %s isn't in the version's description %q, or not in the output Revision",
			revision, description)
	}
	checkUpdate(t, "Timeout", deploy(t, nil), edit(t, "Timeout: 10", "Timeout: 11"))
}

// edit returns the stack of an edited template.
func edit(t *testing.T, old, new string) stack {
	t.Helper()
	return do(t, job{Template: strings.Replace(readFile(t, "template.yaml"), old, new, 1)})
}

// checkUpdate checks the update that another value makes, and so the one back. The function
// reaches the alias only by another version, and Lambda publishes one only if the function
// changes. Nothing else is replaced, since a replacement needs another name. The exceptions
// are the domain, and the policy, which the previous version needs until it has no more traffic.
func checkUpdate(t *testing.T, value string, before, after stack) {
	t.Helper()
	oldID, oldDescription := before.version()
	newID, newDescription := after.version()
	changed := str(before.Resources[function].Properties) != str(after.Resources[function].Properties)
	if published := oldID+oldDescription != newID+newDescription; changed != published {
		t.Errorf("template.yaml: with another %s, %s changes: %t, but its version: %t; Description must contain ${%[1]s}",
			value, function, changed, published)
	}
	if got := str(after.Resources[function].Properties, "Description"); got != newDescription {
		t.Errorf("template.yaml: the function has the description %q, and its version %q. If they differ, "+
			"Lambda may publish no version", got, newDescription)
	}
	for name, r := range before.Resources {
		other := after.Resources[name]
		replaced := slices.ContainsFunc(before.CreateOnly[r.Type], func(property string) bool {
			return other.Type != "" && str(r.Properties, property) != str(other.Properties, property)
		})
		want := name == strings.TrimPrefix(value, "Existing")+"Policy" || name == "ApiDomain" && value == "DomainName"
		if replaced != want && r.Type != "AWS::Lambda::Version" {
			t.Errorf("template.yaml: with another %s, %s is replaced: %t, want %t", value, name, replaced, want)
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
	if _, description := s.version(); len(description) > maxDescription || !strings.HasPrefix(description, revision) {
		t.Errorf("template.yaml: VersionDescription has %d characters, Lambda takes %d: %s",
			len(description), maxDescription, description)
	}
}
