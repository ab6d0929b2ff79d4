package template

import (
	"maps"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
)

const function = "PlantFunction"

var otherIssuer = map[string]string{"TokenIssuer": "https://example.eu.auth0.com/", "TokenAudience": "plants,api://plants"}

// The function gets each setting that it reads from its parameter, and starts with
// them. The table is also that of the output.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const issuer = "TokenIssuer=https://a.example/ TokenAudience=plants,api://plants "
	defaults := map[string]string{
		config.TableName:   "${PlantTable}",
		config.TokenIssuer: "https://a.example/", config.TokenAudience: "plants,api://plants",
		config.TokenJWKSURL: "", config.TokenJWKS: "", config.RequireScopes: "", config.LogLevel: "info",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "GOMAXPROCS": "1", "SSL_CERT_DIR": "/var/empty", // read by the AWS SDK and Go itself
	}
	tests := map[string]map[string]string{
		"":                                    {},
		"RequireScopes=true":                  {config.RequireScopes: "true"},
		"ExistingTable=restored":              {config.TableName: "restored"},
		"LogLevel=warn":                       {config.LogLevel: "warn"},
		"TokenJwksUrl=https://a.example/keys": {config.TokenJWKSURL: "https://a.example/keys"},
	}
	config.FromEnv(func(name string) string {
		if _, ok := defaults[name]; !ok && name != config.CORSOrigins {
			t.Errorf("add %s to this test and to the Variables of %s in template.yaml: sam local can't set what is missing there", name, function)
		}
		return ""
	})
	for parameters, changes := range tests {
		s := deploy(t, overrides(issuer+parameters))
		got := s.environment()
		want := maps.Clone(defaults)
		maps.Copy(want, changes)
		if !maps.Equal(got, want) {
			t.Errorf("template.yaml: with %q the function has the variables %q, want %q", parameters, got, want)
		}
		real := strings.NewReplacer("${", "", "}", "")
		if _, err := config.FromEnv(func(name string) string { return real.Replace(got[name]) }); err != nil {
			t.Errorf("with %q the program does not start: %v", parameters, err)
		}
		table := want[config.TableName]
		if output := str(s.Outputs["TableName"], "Value"); output != table {
			t.Errorf("template.yaml: with %q the output TableName is %q, want %s", parameters, output, table)
		}
		if used := strings.Contains(table, "${"); used != (s.Resources["PlantTable"].Type != "") {
			t.Errorf("template.yaml: with %q the stack has PlantTable: %t, but the function needs it: %t", parameters, !used, used)
		}
	}
}

// environment returns the variables of the function.
func (s stack) environment() map[string]string {
	all := map[string]string{}
	variables, _ := at(s.Resources[function].Properties, "Environment", "Variables").(map[string]any)
	for name, value := range variables {
		all[name] = str(value)
	}
	return all
}
