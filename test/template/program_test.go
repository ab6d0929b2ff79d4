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
// them. The tables are also those of the outputs.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const issuer = "TokenIssuer=https://a.example/ TokenAudience=plants,api://plants "
	defaults := map[string]string{
		config.TokenIssuer: "https://a.example/", config.TokenAudience: "plants,api://plants",
		config.TokenJWKSURL: "", config.TokenJWKS: "", config.RequireScopes: "", config.LogLevel: "info",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "GOMAXPROCS": "1", "SSL_CERT_DIR": "/var/empty", // read by the AWS SDK and Go itself
	}
	tests := map[string]map[string]string{
		"":                                    {},
		"RequireScopes=true":                  {config.RequireScopes: "true"},
		"LogLevel=warn":                       {config.LogLevel: "warn"},
		"TokenJwksUrl=https://a.example/keys": {config.TokenJWKSURL: "https://a.example/keys"},
	}
	for _, table := range config.Tables {
		defaults[table.Variable] = "${" + table.Resource + "}"
		tests[existing(table)+"=restored"] = map[string]string{table.Variable: "restored"}
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
		for _, table := range config.Tables {
			name := strings.TrimPrefix(existing(table), "Existing") + "Name"
			if output := str(s.Outputs[name], "Value"); output != want[table.Variable] {
				t.Errorf("template.yaml: with %q the output %s is %q, want %s", parameters, name, output, want[table.Variable])
			}
			if used := strings.Contains(want[table.Variable], "${"); used != (s.Resources[table.Resource].Type != "") {
				t.Errorf("template.yaml: with %q the stack has %s: %t, but the function needs it: %t", parameters, table.Resource, !used, used)
			}
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
