package template

import (
	"slices"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
)

// Without an issuer the function accepts the tokens of the stack's own user pool, those
// of programs too with MachineClient. With an issuer there is no pool.
func TestUserPool(t *testing.T) {
	t.Parallel()
	const pool = "${UserPool.ProviderURL}"
	for parameters, want := range map[string][3]string{ // issuer, audience, whether scopes are required
		"":                   {pool, "${UserClient}", "false"},
		"MachineClient=true": {pool, "${UserClient},${ProgramClient}", "false"},
		"RequireScopes=true": {pool, "${UserClient}", "true"},
		"TokenIssuer=https://a.example/ TokenAudience=plants": {"https://a.example/", "plants", ""},
	} {
		s := deploy(t, overrides(parameters))
		env := s.environment()
		if got := [3]string{env[config.TokenIssuer], env[config.TokenAudience], env[config.RequireScopes]}; got != want {
			t.Errorf("template.yaml: with %q the function has issuer, audience and scopes %q, want %q", parameters, got, want)
		}
		for _, name := range []string{"UserPool", "ProgramClient"} { // whose ids own plants, even while MachineClient is false
			if exists := s.Resources[name].Type != ""; exists != (want[0] == pool) {
				t.Errorf("template.yaml: with %q there is %s: %t", parameters, name, exists)
			}
		}
		if policy := s.Resources["TokenDomain"].DeletionPolicy; policy != "" {
			t.Errorf("template.yaml: TokenDomain has the DeletionPolicy %q, but its name must be free for the next stack", policy)
		}
	}
}

// The user pool has the scopes of the routes, and the client of programs may use them.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := deploy(t, overrides("MachineClient=true"))
	var defined, allowed []string
	for name, r := range s.Resources {
		if r.Type != "AWS::Cognito::UserPoolResourceServer" {
			continue
		}
		for _, scope := range list(r.Properties, "Scopes") {
			defined = append(defined, str(r.Properties, "Identifier")+"/"+str(scope, "ScopeName"))
		}
		if !slices.Contains(list(s.Resources["ProgramClient"].DependsOn), any(name)) {
			t.Errorf("template.yaml: ProgramClient needs DependsOn: %s, or Cognito may not know its scopes yet", name)
		}
	}
	for _, scope := range list(s.Resources["ProgramClient"].Properties, "AllowedOAuthScopes") {
		allowed = append(allowed, str(scope))
	}
	slices.Sort(defined)
	slices.Sort(allowed)
	if want := handlers.Scopes(); !slices.Equal(defined, want) || !slices.Equal(allowed, want) {
		t.Errorf("template.yaml: the resource servers of UserPool define %q, and ProgramClient may use %q; the routes have %q", defined, allowed, want)
	}
}
