package template

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/testing/openapi"
)

// The function has exactly the variables that the program reads, which starts with them.
// It requires scopes, except with the tokens of the stack's own pool, which don't name any.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	want := []string{"AWS_ENDPOINT_URL_DYNAMODB", "GOMAXPROCS", "SSL_CERT_DIR"} // read by the AWS SDK and Go itself
	config.FromEnv(func(name string) string {
		want = append(want, name)
		return ""
	})
	slices.Sort(want)
	want = slices.Compact(want)
	reference := regexp.MustCompile(`\$\{(.*?)\}`)
	for _, test := range []struct {
		parameters     map[string]string
		requiresScopes bool
	}{
		{nil, false},
		{everything(t), true},     // with RequireScopes=true
		{everythingElse(t), true}, // with TokenIssuer
		{overrides("TokenIssuer=https://a.example/ TokenAudience=plants RequireScopes=false"), false},
	} {
		properties := deploy(t, test.parameters).Resources[function].Properties
		variables, _ := at(properties, "Environment", "Variables").(map[string]any)
		if got := slices.Sorted(maps.Keys(variables)); !slices.Equal(got, want) {
			t.Errorf("template.yaml: with %q the function has the variables\n%q, want those that the program reads,\n%q;"+
				" sam local can't set others", test.parameters, got, want)
		}
		program, err := config.FromEnv(func(name string) string {
			value := strings.ReplaceAll(str(variables, name), "${UserPool.ProviderURL}", "https://pool.example")
			return reference.ReplaceAllString(value, "$1")
		})
		if err != nil {
			t.Errorf("template.yaml: with %q the program does not start: %v", test.parameters, err)
			continue
		}
		if got := !program.Tokens.ScopesOptional; got != test.requiresScopes {
			t.Errorf("template.yaml: with %q the program requires scopes: %t, want %t",
				test.parameters, got, test.requiresScopes)
		}
	}
}

// Each of the stack's tables is the one that the program creates in DynamoDB Local, but protected.
func TestTableSchema(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(dynamo.TableInput("")) // CloudFormation chooses the name
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	unset := regexp.MustCompile(`"\w+":(null|""),|,"\w+":(null|"")`)
	if err := json.Unmarshal(unset.ReplaceAll(b, nil), &want); err != nil {
		t.Fatal(err)
	}
	for name, r := range deploy(t, nil).Resources {
		got := maps.Clone(r.Properties)
		delete(got, "DeletionProtectionEnabled")
		delete(got, "PointInTimeRecoverySpecification")
		if r.Type == "AWS::DynamoDB::Table" && str(got) != str(want) {
			t.Errorf("template.yaml: %s is\n%s\nwant dynamo.TableInput,\n%s", name, str(got), str(want))
		}
	}
}

// The function may do with its table what package dynamo needs, and nothing else. The snapshots
// show the other permissions.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for table, parameters := range map[string]map[string]string{
		"${PlantTable}": nil, "restored": everythingElse(t),
	} {
		arn := "arn:aws:dynamodb:eu-central-1:${AWS::AccountId}:table/" + table
		want, got := map[string][]string{}, map[string][]string{}
		for index, actions := range dynamo.Actions {
			resource := arn
			if index != "" {
				resource += "/index/" + index
			}
			want[resource] = actions
		}
		policy := deploy(t, parameters).Resources["TablePolicy"].Properties
		for _, statement := range list(policy, "PolicyDocument", "Statement") {
			for _, action := range list(statement, "Action") {
				resource := str(statement, "Resource")
				got[resource] = append(got[resource], str(action))
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("template.yaml: TablePolicy allows\n%q\nwant what package dynamo needs,\n%q", got, want)
		}
	}
}

// The user pool has the scopes of the routes, and the client of programs may use them.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := deploy(t, everything(t))
	server, client := s.Resources["PlantScopes"].Properties, s.Resources["ProgramClient"].Properties
	var defined, allowed []string
	for _, scope := range list(server, "Scopes") {
		defined = append(defined, str(server, "Identifier")+"/"+str(scope, "ScopeName"))
	}
	for _, scope := range list(client, "AllowedOAuthScopes") {
		allowed = append(allowed, str(scope))
	}
	if want := handlers.Scopes(); !slices.Equal(defined, want) || !slices.Equal(allowed, want) {
		t.Errorf("template.yaml: PlantScopes defines %q, and ProgramClient may use %q; the routes have %q",
			defined, allowed, want)
	}
}

// Pages may use everything that the OpenAPI document describes.
func TestCORS(t *testing.T) {
	t.Parallel()
	cors := at(deploy(t, everything(t)).Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors")
	use := map[string]bool{"Authorization": true, "Content-Type": true}
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		use[op.Method] = op != d.Other
		for _, p := range op.Parameters {
			use[p.Name] = p.In == "header"
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				// Pages may always read the first. The second is for the browser itself.
				use[name] = name != "Cache-Control" && name != "X-Content-Type-Options"
			}
		}
	}
	for name, used := range use {
		if used && !strings.Contains(str(cors), `"`+name+`"`) {
			t.Errorf("template.yaml: add %s to CorsConfiguration: api/openapi.yaml documents it. If it is for the browser "+
				"itself, name it in this test", name)
		}
	}
}
