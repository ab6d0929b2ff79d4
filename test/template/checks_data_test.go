package template

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// checkTable finds a table that the program could not use.
func checkTable(s *stack, p program, report report) {
	if n := len(ofType(s.resources, "AWS::DynamoDB::Table")); n != 1 {
		report("there are %d tables, want 1", n)
	}
	properties := object(s.resources, "PlantTable", "Properties")
	for key, want := range p.table {
		if got := str(properties, key); got != str(want) {
			report("the table's %s is %s, the program's is %s", key, got, str(want))
		}
	}
	for key := range properties {
		protection := key == "DeletionProtectionEnabled" || key == "PointInTimeRecoverySpecification"
		if _, ok := p.table[key]; !ok && !protection {
			report("the table has %s, of which the program knows nothing", key)
		}
	}
}

// checkRetention finds data that goes with its stack, and logs that stay for ever.
func checkRetention(s *stack, _ program, report report) {
	for _, typ := range []string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool"} {
		for _, name := range ofType(s.resources, typ) {
			for _, policy := range []string{"DeletionPolicy", "UpdateReplacePolicy"} {
				if got := str(s.resources, name, policy); got != "Retain" {
					report("%s of %s is %q, want Retain", policy, name, got)
				}
			}
		}
	}
	table := object(s.resources, "PlantTable", "Properties")
	if str(table, "DeletionProtectionEnabled") != "true" {
		report("the table has no deletion protection")
	}
	if str(table, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != "true" {
		report("the table has no point-in-time recovery")
	}
	if pool := object(s.resources, "UserPool", "Properties"); pool != nil && str(pool, "DeletionProtection") != "ACTIVE" {
		report("the user pool has no deletion protection")
	}
	for _, name := range ofType(s.resources, "AWS::Logs::LogGroup") {
		if got, want := str(s.resources, name, "Properties", "RetentionInDays"), s.parameters["LogRetention"]; got != want {
			report("%s keeps its lines for %q days, want %s", name, got, want)
		}
	}
}

// checkPermissions finds what the function may do and doesn't, and what it does
// and may not.
func checkPermissions(s *stack, p program, report report) {
	role := object(s.resources, "FunctionRole", "Properties")
	if got := str(s.resources, function, "Properties", "Role"); got != "${FunctionRole.Arn}" {
		report("the function's role is %s", got)
	}
	for _, typ := range []string{"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"} {
		for _, name := range ofType(s.resources, typ) {
			report("%s may give the role more", name)
		}
	}
	if got := str(role, "ManagedPolicyArns"); got != "" {
		report("the role has the managed policies %s", got)
	}
	if got := str(role, "AssumeRolePolicyDocument", "Statement"); got !=
		`[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}]` {
		report("the role is for %s", got)
	}

	var allowed []string
	for _, policy := range list(role, "Policies") {
		for _, statement := range list(policy, "PolicyDocument", "Statement") {
			keys := slices.Sorted(maps.Keys(object(statement)))
			if str(statement, "Effect") != "Allow" || !slices.Equal(keys, []string{"Action", "Effect", "Resource"}) {
				report("these tests don't understand the statement %s", str(statement))
			}
			for _, action := range oneOrMore(at(statement, "Action")) {
				for _, resource := range oneOrMore(at(statement, "Resource")) {
					allowed = append(allowed, action+" "+resource)
				}
			}
		}
	}
	want := append([]string{
		"logs:CreateLogStream ${FunctionLogs.Arn}",
		"logs:PutLogEvents ${FunctionLogs.Arn}",
	}, p.calls...)
	slices.Sort(allowed)
	slices.Sort(want)
	if !slices.Equal(allowed, want) {
		report("the function may %q, but it does %q", allowed, want)
	}
}

func oneOrMore(v any) []string {
	var out []string
	for _, e := range list(v) {
		out = append(out, str(e))
	}
	if out == nil {
		out = append(out, str(v))
	}
	return out
}

// checkNames finds fixed names that would keep a second stack, or the next one,
// from being made. What is named after the stack is as unique as that, and goes
// with it.
func checkNames(s *stack, _ program, report report) {
	for name, r := range s.resources {
		for _, key := range []string{"TableName", "FunctionName", "RoleName", "LogGroupName", "AlarmName", "Domain"} {
			typ := str(r, "Type")
			if typ == "AWS::Lambda::Alias" || typ == "AWS::Lambda::Version" || typ == "AWS::Lambda::Permission" {
				continue // FunctionName says whose they are
			}
			value := str(r, "Properties", key)
			ofStack := strings.Contains(value, "${AWS::StackName}") || strings.Contains(value, "${AWS::StackId}")
			if value != "" && (!ofStack || str(r, "DeletionPolicy") == "Retain") {
				report("%s has the fixed %s %q", name, key, value)
			}
		}
	}
}

// checkParameters finds parameters that a person would have to guess about, or
// whose wrong values come out late.
func checkParameters(s *stack, _ program, report report) {
	for name, p := range object(s.template, "Parameters") {
		if str(p, "Description") == "" {
			report("%s has no description", name)
		}
		value, ok := object(p)["Default"]
		if !ok {
			report("%s has no default", name)
		}
		pattern, values := str(p, "AllowedPattern"), list(p, "AllowedValues")
		switch {
		case values != nil:
			if !slices.ContainsFunc(values, func(v any) bool { return str(v) == str(value) }) {
				report("the default of %s, %s, is not among its values", name, str(value))
			}
		case pattern != "":
			re, err := regexp.Compile(pattern)
			if err != nil || !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
				report("the pattern of %s is not one of the whole value", name)
			} else if !re.MatchString(str(value)) {
				report("the default of %s doesn't match its pattern", name)
			}
		case at(p, "MinValue") == nil || at(p, "MaxValue") == nil:
			report("%s takes any value", name)
		}
	}
}
