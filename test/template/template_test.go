package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A check tells of faults of a stack.
type check func(s *stack, p program, report report)

var checks = map[string]check{
	"function":    checkFunction,
	"environment": checkEnvironment,
	"version":     checkVersion,
	"circles":     checkCircles,
	"table":       checkTable,
	"retention":   checkRetention,
	"permissions": checkPermissions,
	"names":       checkNames,
	"parameters":  checkParameters,
	"api":         checkAPI,
	"access log":  checkAccessLog,
	"alarms":      checkAlarms,
	"tokens":      checkTokens,
	"outputs":     checkOutputs,
}

// findings returns what the check says of the stack.
func (c check) findings(s *stack, p program) []string {
	var found []string
	c(s, p, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
	return found
}

// scenarios are parameters with which each condition is once true and once false.
var scenarios = map[string]map[string]string{
	"defaults": nil,
	"machine client": {
		"MachineClient": "true", "RequireScopes": "true", "Architecture": "x86_64", "LogLevel": "debug", "Deployment": "AllAtOnce",
	},
	"other issuer": {
		"TokenIssuer": "https://example.eu.auth0.com/", "TokenAudience": "plants,api://plants",
	},
	"other issuer with keys elsewhere": {
		"TokenIssuer":   "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
		"TokenAudience": "api://00000000-0000-0000-0000-000000000000",
		"TokenJwksUrl":  "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/discovery/v2.0/keys",
	},
	"pages": {
		"CorsOrigins": "https://a.example,https://b.example:8443", "ThrottlingRate": "1", "ThrottlingBurst": "5000", "LogRetention": "7",
	},
}

func TestStacks(t *testing.T) {
	p := readProgram(t)
	template := source(t)
	names := slices.Sorted(maps.Keys(scenarios))
	var jobs []job
	for _, name := range names {
		jobs = append(jobs, job{Translate: template, Parameters: scenarios[name]})
	}
	results := do(t, jobs...)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			if results[i].Error != "" {
				t.Fatal(results[i].Error)
			}
			s := evaluate(results[i].Template, scenarios[name])
			for name, c := range checks {
				for _, finding := range c.findings(s, p) {
					t.Errorf("%s: %s", name, finding)
				}
			}
			for _, e := range slices.Concat(s.errs, s.refused) {
				t.Error(e)
			}
		})
	}
	for name := range object(template, "Conditions") {
		seen := map[bool]bool{}
		for i, scenario := range names {
			seen[evaluate(results[i].Template, scenarios[scenario]).named(name)] = true
		}
		if len(seen) != 2 {
			t.Errorf("no scenario has the condition %s %t", name, !seen[true])
		}
	}
}

// A new value of any parameter that the function reads must make another
// version: another resource, or a property that can't be changed in place.
func TestNewValueMakesNewVersion(t *testing.T) {
	template := source(t)
	values := []map[string]string{
		nil,
		{"Architecture": "x86_64"},
		{"LogLevel": "warn"},
		{"RequireScopes": "true"},
		{"MachineClient": "true"},
		{"TokenIssuer": "https://a.example", "TokenAudience": "plants"},
		{"TokenIssuer": "https://a.example", "TokenAudience": "animals"},
		{"TokenIssuer": "https://a.example", "TokenAudience": "plants", "TokenJwksUrl": "https://a.example/keys"},
	}
	jobs := []job{{Schema: "AWS::Lambda::Version"}}
	for _, v := range values {
		jobs = append(jobs, job{Translate: template, Parameters: v})
	}
	results := do(t, jobs...)
	fixed := oneOrMore(at(results[0].Value, "createOnlyProperties"))
	if !slices.Contains(fixed, "/properties/Description") {
		t.Errorf("only %q of a version can't be changed in place; its description can", fixed)
	}
	versions := map[string]map[string]string{}
	for i, r := range results[1:] {
		if r.Error != "" {
			t.Fatal(r.Error)
		}
		s := evaluate(r.Template, values[i])
		id := ofType(s.resources, "AWS::Lambda::Version")[0]
		version := id + " " + str(s.resources, id, "Properties", "Description")
		if other, ok := versions[version]; ok {
			t.Errorf("%v and %v make the same version, %s", other, values[i], version)
		}
		versions[version] = values[i]
	}
}

func TestRules(t *testing.T) {
	template := source(t)
	for _, tt := range []struct {
		parameters map[string]string
		refused    string // a part of the reason, or nothing
	}{
		{map[string]string{"TokenAudience": "plants"}, "TokenIssuer, which is empty"},
		{map[string]string{"TokenJwksUrl": "https://a.example/keys"}, "TokenIssuer, which is empty"},
		{map[string]string{"TokenIssuer": "https://a.example"}, "needs TokenAudience"},
		{map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "plants", "MachineClient": "true"}, "isn't made when"},
		{map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "plants"}, ""},
		{map[string]string{"MachineClient": "true"}, ""},
		{nil, ""},
	} {
		s := evaluate(template, tt.parameters)
		got := strings.Join(s.refused, "; ")
		if (got == "") != (tt.refused == "") || !strings.Contains(got, tt.refused) {
			t.Errorf("%v: refused for %q, want %q", tt.parameters, got, tt.refused)
		}
	}
}

func TestParameterPatterns(t *testing.T) {
	template := source(t)
	for name, values := range map[string]struct{ good, bad []string }{
		"TokenIssuer": {
			[]string{"", "https://a.example", "https://a.example/", "https://a.example/realms/x"},
			[]string{"a.example", "http://a.example", "https://", "https://a example", "https://a|b", "https://a.example,https://b.example"},
		},
		"TokenJwksUrl": {
			[]string{"", "https://a.example/keys?x=y"},
			[]string{"http://a.example/keys", "https://a.example/keys "},
		},
		"TokenAudience": {
			[]string{"", "plants", "plants,https://b.example/", "api://default"},
			[]string{"plants, animals", "a|b", "a\nb"},
		},
		"CorsOrigins": {
			[]string{"", "*", "https://a.example", "http://localhost:3000,https://a.example"},
			[]string{"a.example", "https://a.example/", "https://a.example,", "https://a.example, https://b.example", "null"},
		},
	} {
		re := regexp.MustCompile(str(template, "Parameters", name, "AllowedPattern"))
		for _, v := range values.good {
			if !re.MatchString(v) {
				t.Errorf("%s refuses %q", name, v)
			}
		}
		for _, v := range values.bad {
			if re.MatchString(v) {
				t.Errorf("%s takes %q", name, v)
			}
		}
	}
}
