package template

import (
	"cmp"
	"strings"
	"testing"
)

var otherIssuer = overrides("TokenIssuer=https://example.eu.auth0.com/ TokenAudience=plants,api://plants")

// description returns the description of the published version. CloudFormation makes another
// version for another description.
func (s stack) description() string {
	for _, r := range s.Resources {
		if r.Type == "AWS::Lambda::Version" {
			return str(r.Properties, "Description")
		}
	}
	return ""
}

// A new value of a parameter that the function reads reaches clients: it makes another version.
// With another table, the previous version needs its policy until it has no more traffic, so the
// new policy has another name.
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
		old, new := deploy(t, before), deploy(t, after)
		changed := str(old.Resources[function].Properties) != str(new.Resources[function].Properties)
		if published := old.description() != new.description(); changed != published {
			t.Errorf("template.yaml: with another %s, %s changes: %t, but its version: %t; Description must contain ${%[1]s}",
				name, function, changed, published)
		}
		oldPolicy, newPolicy := old.Resources["TablePolicy"].Properties, new.Resources["TablePolicy"].Properties
		if str(oldPolicy) != str(newPolicy) && str(oldPolicy, "PolicyName") == str(newPolicy, "PolicyName") {
			t.Errorf("template.yaml: with another %s, TablePolicy changes, but its name doesn't", name)
		}
	}
}
