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
		if exists := s.Resources["UserPool"].Type != ""; exists != (want[0] == pool) {
			t.Errorf("template.yaml: with %q there is a user pool: %t", parameters, exists)
		}
	}
	// The pool's own values in place of none change nothing that the function reads.
	own := map[string]string{"TokenIssuer": pool, "TokenAudience": "${UserClient}"}
	checkUpdate(t, "TokenIssuer", deploy(t, nil), do(t, job{Template: readFile(t, "template.yaml"), Parameters: own}))
}

// MachineClient adds only the domain. Programs keep their client, whose id owns their
// plants, whatever MachineClient is.
func TestMachineClient(t *testing.T) {
	t.Parallel()
	before, after := deploy(t, nil), deploy(t, overrides("MachineClient=true"))
	for name, r := range after.Resources {
		if domain := name == "TokenDomain"; domain != (before.Resources[name].Type == "") || domain && r.DeletionPolicy != "" {
			t.Errorf("template.yaml: without MachineClient there is %s: %t; its DeletionPolicy is %q", name, domain, r.DeletionPolicy)
		}
	}
}

// The user pool has the scopes of the routes, and the client of programs may use them.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := deploy(t, overrides("MachineClient=true"))
	var defined []string
	for name, r := range s.Resources {
		if r.Type != "AWS::Cognito::UserPoolResourceServer" {
			continue
		}
		for _, scope := range list(r.Properties, "Scopes") {
			defined = append(defined, str(r.Properties, "Identifier")+"/"+str(scope, "ScopeName"))
		}
		if !slices.Contains(oneOrMore(s.Resources["ProgramClient"].DependsOn), name) {
			t.Errorf("template.yaml: ProgramClient needs DependsOn: %s, or Cognito may not know its scopes yet", name)
		}
	}
	slices.Sort(defined)
	allowed := slices.Sorted(slices.Values(oneOrMore(at(s.Resources["ProgramClient"].Properties, "AllowedOAuthScopes"))))
	if want := handlers.Scopes(); !slices.Equal(defined, want) || !slices.Equal(allowed, want) {
		t.Errorf("template.yaml: the resource servers of UserPool define %q, and ProgramClient may use %q; the routes have %q", defined, allowed, want)
	}
}
