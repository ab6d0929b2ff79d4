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
	const pool = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_1a2B3c"
	defaults := map[string]string{
		config.TableName: "${PlantTable}", config.TokenIssuer: "${UserPool.ProviderURL}", config.TokenAudience: "${UserClient}",
		config.TokenJWKSURL: "", config.TokenJWKS: "", config.RequireScopes: "false", config.LogLevel: "info",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "GOMAXPROCS": "1", "GOGC": "400", // read by the AWS SDK and the Go runtime
	}
	for _, name := range config.Names() {
		if _, ok := defaults[name]; !ok && name != config.CORSOrigins && name != config.NewVersion {
			t.Errorf("add %s to this test and to the Variables of %s in template.yaml: sam local can't set what is missing there", name, function)
		}
	}
	for parameters, changes := range map[string]map[string]string{
		"":                              {},
		"MachineClient=true":            {config.TokenAudience: "${UserClient},${ProgramClient}"},
		"RequireScopes=true":            {config.RequireScopes: "true"},
		"LogLevel=warn":                 {config.LogLevel: "warn"},
		"ExistingTable=plants-restored": {config.TableName: "plants-restored"},
		"TokenIssuer=https://a.example/ TokenAudience=plants,api://plants TokenJwksUrl=https://a.example/keys": {
			config.RequireScopes: "", config.TokenIssuer: "https://a.example/", config.TokenAudience: "plants,api://plants", config.TokenJWKSURL: "https://a.example/keys"},
	} {
		s := deploy(t, overrides(parameters))
		got := map[string]string{}
		variables, _ := at(s.Resources[function].Properties, "Environment", "Variables").(map[string]any)
		for name, value := range variables {
			got[name] = str(value)
		}
		want := maps.Clone(defaults)
		maps.Copy(want, changes)
		if !maps.Equal(got, want) {
			t.Errorf("template.yaml: with %q the function has the variables %q, want %q", parameters, got, want)
		}
		real := strings.NewReplacer("${UserPool.ProviderURL}", pool, "${", "", "}", "")
		if _, err := config.FromEnv(func(name string) string { return real.Replace(got[name]) }); err != nil {
			t.Errorf("with %q the program does not start: %v", parameters, err)
		}
		if output := str(s.Outputs["TableName"], "Value"); output != want[config.TableName] {
			t.Errorf("template.yaml: with %q the output TableName is %s", parameters, output)
		}
		created := s.Resources["PlantTable"].Type != "" == strings.Contains(want[config.TableName], "${") &&
			s.Resources["UserPool"].Type != "" == strings.Contains(want[config.TokenIssuer], "${")
		if !created {
			t.Errorf("template.yaml: with %q the stack has a table or a user pool that the function doesn't use, or lacks one", parameters)
		}
	}
}
