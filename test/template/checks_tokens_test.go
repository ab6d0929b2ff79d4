package template

import (
	"maps"
	"slices"
	"strings"
)

// checkTokens finds a Cognito that is there when it shouldn't be, and one that
// gives tokens to anybody.
func checkTokens(s *stack, _ program, report report) {
	own := s.parameters["TokenIssuer"] == ""
	machine := own && s.parameters["MachineClient"] == "true"
	for name, wanted := range map[string]bool{
		"UserPool": own, "UserClient": own, "PlantScopes": machine, "TokenDomain": machine, "ProgramClient": machine,
	} {
		if _, there := s.resources[name]; there != wanted {
			report("%s is there: %t, want %t", name, there, wanted)
		}
	}
	if own {
		checkUserPool(s, report)
	}
	if machine {
		checkMachineClient(s, report)
	}
}

func checkUserPool(s *stack, report report) {
	if got := str(s.resources, "UserPool", "Properties", "AdminCreateUserConfig", "AllowAdminCreateUserOnly"); got != "true" {
		report("anybody may sign up")
	}
	if got := str(s.resources, "UserPool", "Properties", "Policies", "PasswordPolicy", "MinimumLength"); got != "12" {
		report("passwords have %q characters at least, want 12", got)
	}
	client := object(s.resources, "UserClient", "Properties")
	if got := str(client, "GenerateSecret"); got != "false" {
		report("the public client has a secret")
	}
	if got := str(client, "PreventUserExistenceErrors"); got != "ENABLED" {
		report("the public client tells which users exist")
	}
	if got := str(client, "ExplicitAuthFlows"); !strings.Contains(got, `"ALLOW_USER_PASSWORD_AUTH"`) {
		report("people's flows are %s, without the one that README uses", got)
	}
	if got := str(client, "AllowedOAuthFlows"); got != "" {
		report("the public client has the OAuth flows %s", got)
	}
}

func checkMachineClient(s *stack, report report) {
	client := object(s.resources, "ProgramClient", "Properties")
	for key, want := range map[string]string{
		"GenerateSecret":                  "true",
		"AllowedOAuthFlowsUserPoolClient": "true",
		"AllowedOAuthFlows":               `["client_credentials"]`,
		"ExplicitAuthFlows":               `["ALLOW_REFRESH_TOKEN_AUTH"]`,
	} {
		if got := str(client, key); got != want {
			report("the machine client's %s is %s, want %s", key, got, want)
		}
	}
	var scopes []string
	server := object(s.resources, "PlantScopes", "Properties")
	for _, scope := range list(server, "Scopes") {
		scopes = append(scopes, str(server, "Identifier")+"/"+str(scope, "ScopeName"))
	}
	if got := oneOrMore(at(client, "AllowedOAuthScopes")); !slices.Equal(got, scopes) || !slices.Equal(got, []string{"plants/read", "plants/write"}) {
		report("the machine client has the scopes %q of %q, want plants/read and plants/write", got, scopes)
	}
	if got := str(s.resources, "ProgramClient", "DependsOn"); got != "PlantScopes" {
		report("the machine client may be made before its scopes")
	}
}

// checkOutputs finds what a person needs and isn't told.
func checkOutputs(s *stack, _ program, report report) {
	own := s.parameters["TokenIssuer"] == ""
	want := map[string]string{
		"BaseUrl":          "${PlantApi.ApiEndpoint}",
		"TableName":        "${PlantTable}",
		"TokenIssuer":      s.parameters["TokenIssuer"],
		"FunctionLogGroup": "${FunctionLogs}",
		"AccessLogGroup":   "${AccessLogs}",
	}
	if own {
		want["TokenIssuer"] = "${UserPool.ProviderURL}"
		want["UserPoolId"] = "${UserPool}"
		want["ClientId"] = "${UserClient}"
	}
	if own && s.parameters["MachineClient"] == "true" {
		want["MachineClientId"] = "${ProgramClient}"
		want["TokenUrl"] = "https://${TokenDomain}.auth.${AWS::Region}.amazoncognito.com/oauth2/token"
	}
	if !maps.Equal(s.outputs, want) {
		report("the outputs are %q, want %q", s.outputs, want)
	}
}
