package template

import (
	"slices"
	"strconv"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
)

// Without an issuer the function accepts the tokens of the stack's own user pool, those
// of programs too with MachineClient. With an issuer there is no pool.
func TestUserPool(t *testing.T) {
	t.Parallel()
	const pool = "${UserPool.ProviderURL}"
	const other = "TokenIssuer=https://a.example/ TokenAudience=plants"
	for parameters, want := range map[string][3]string{ // issuer, audience, whether scopes are required
		"":                             {pool, "${UserClient}", "false"},
		"MachineClient=true":           {pool, "${UserClient},${ProgramClient}", "false"},
		"RequireScopes=true":           {pool, "${UserClient}", "true"},
		other:                          {"https://a.example/", "plants", "true"},
		other + " RequireScopes=false": {"https://a.example/", "plants", "false"},
	} {
		s := deploy(t, overrides(parameters))
		env := s.environment()
		program, err := config.FromEnv(func(name string) string {
			return map[string]string{config.RequireScopes: env[config.RequireScopes]}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]string{env[config.TokenIssuer], env[config.TokenAudience], strconv.FormatBool(!program.Tokens.ScopesOptional)}; got != want {
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

// What protects the users of the pool, and what its clients may do.
func TestCognitoSettings(t *testing.T) {
	t.Parallel()
	checkSettings(t, []setting{
		{"UserPool", "AdminCreateUserConfig", "", `{"AllowAdminCreateUserOnly":true}`, "anybody could sign up and create plants"},
		{"UserPool", "AccountRecoverySetting.RecoveryMechanisms", "", `[{"Name":"admin_only","Priority":1}]`, "who reads a user's e-mail could take over the account"},
		{"UserPool", "Policies.PasswordPolicy.MinimumLength", "", "12", "nothing but the length protects against guessing"},
		{"UserPool", "Policies.PasswordPolicy.TemporaryPasswordValidityDays", "", "7", "a forgotten invitation must expire"},
		{"UserPool", "UsernameConfiguration", "", `{"CaseSensitive":false}`, "Alice and alice would be two users; a pool can't change this later"},
		{"UserPool", "UserPoolTier", "", "LITE", "the default, ESSENTIALS, costs nearly three times as much a user, for what nothing here uses"},
		{"UserPool", "DeletionProtection", "", "ACTIVE", "without the pool nobody can access their plants again"},
		{"UserClient", "GenerateSecret", "", "false", "pages and programs of users can't keep a secret"},
		{"UserClient", "ExplicitAuthFlows", "", `["ALLOW_USER_PASSWORD_AUTH","ALLOW_USER_SRP_AUTH","ALLOW_REFRESH_TOKEN_AUTH"]`, "no sign-in by administrators or custom challenges"},
		{"UserClient", "PreventUserExistenceErrors", "", "ENABLED", "the responses would tell who is a user"},
		{"UserClient", "AllowedOAuthFlows", "", "", "the pool has no pages for signing in"},
		{"UserClient", "AccessTokenValidity", "", "60", "a stolen token works that long"},
		{"UserClient", "TokenValidityUnits.AccessToken", "", "minutes", "a stolen token would work for 60 hours or days"},
		{"ProgramClient", "GenerateSecret", "", "true", "anybody could get tokens of the client"},
		{"ProgramClient", "ExplicitAuthFlows", "", `["ALLOW_REFRESH_TOKEN_AUTH"]`, "users may not sign in with it; an empty list would allow the default flows"},
		{"ProgramClient", "AccessTokenValidity", "", "60", "a stolen token works that long"},
		{"ProgramClient", "TokenValidityUnits.AccessToken", "", "minutes", "a stolen token would work for 60 hours or days"},
		{"ProgramClient", "AllowedOAuthFlowsUserPoolClient", "MachineClient=false", "false", "without MachineClient there are no tokens for programs"},
		{"ProgramClient", "AllowedOAuthFlows", "MachineClient=false", "", "without MachineClient there are no tokens for programs"},
		{"ProgramClient", "AllowedOAuthFlowsUserPoolClient", "MachineClient=true", "true", "the client needs it for tokens"},
		{"ProgramClient", "AllowedOAuthFlows", "MachineClient=true", `["client_credentials"]`, "other flows would let users sign in through the client"},
		{"TokenDomain", "Domain", "MachineClient=true", "plants-id", "the domain must be unique in the region, as the stack's ID is"},
	})
}

// The token endpoint has another host in AWS GovCloud (US).
// https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/govcloud-cog.html
func TestTokenURL(t *testing.T) {
	t.Parallel()
	for region, host := range map[string]string{"eu-central-1": "auth.eu-central-1", "us-gov-west-1": "auth-fips.us-gov-west-1"} {
		s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: overrides("MachineClient=true"), Region: region})
		if got, want := str(s.Outputs["TokenUrl"], "Value"), "https://${TokenDomain}."+host+".amazoncognito.com/oauth2/token"; got != want {
			t.Errorf("template.yaml: TokenUrl is %s, want %s", got, want)
		}
	}
}
