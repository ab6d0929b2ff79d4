package template

import (
	"cmp"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CloudFormation refuses these before it changes anything.
func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	const china = "cn-north-1"
	for _, tt := range []struct {
		parameters map[string]string
		refused    string // part of the reason; empty if they are valid
		region     string
	}{
		{map[string]string{"MachineClient": "true"}, "", ""},
		{map[string]string{"TokenAudience": "plants"}, "TokenIssuer", ""},
		{map[string]string{"TokenJwksUrl": "https://a.example/keys"}, "TokenIssuer", ""},
		{map[string]string{"TokenIssuer": "https://a.example"}, "TokenIssuer needs TokenAudience", ""},
		{map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "a", "MachineClient": "true"}, "MachineClient", ""},
		{map[string]string{"TokenIssuer": "http://a.example", "TokenAudience": "a"}, "TokenIssuer", ""},
		{map[string]string{"TokenIssuer": "https://a|b", "TokenAudience": "a"}, "TokenIssuer", ""}, // | separates values in VersionDescription
		{map[string]string{"TokenIssuer": "https://a.example", "TokenAudience": "a, b"}, "TokenAudience", ""},
		{map[string]string{"CorsOrigins": "*"}, "", ""},
		{map[string]string{"CorsOrigins": "https://a.example,http://localhost:3000"}, "", ""},
		{map[string]string{"CorsOrigins": "https://a.example/"}, "CorsOrigins", ""}, // an origin has no path
		{map[string]string{"CorsOrigins": "https://a.example, https://b.example"}, "CorsOrigins", ""},
		{nil, "no user pools in China", china},
		{otherIssuer, "", china},
		{nil, "", "us-gov-west-1"},
		{map[string]string{"ExistingTable": "plants-PlantTable-1A2B3C4D5E6FG"}, "", ""},
		{map[string]string{"ExistingTable": "no spaces"}, "ExistingTable", ""},
		{map[string]string{"AlarmTopic": topic}, "", ""},
		{map[string]string{"AlarmTopic": topic + ".fifo"}, "AlarmTopic", ""},
	} {
		got := strings.Join(do(t, job{readFile(t, "template.yaml"), tt.parameters, tt.region, ""}).Refused, "; ")
		if (got == "") != (tt.refused == "") || !strings.Contains(got, tt.refused) {
			t.Errorf("%v: refused because of %q, want %q", tt.parameters, got, tt.refused)
		}
	}
}

// The console shows each parameter in one group.
func TestParameterGroups(t *testing.T) {
	t.Parallel()
	s := deploy(t, nil)
	var grouped []string
	for _, g := range s.Groups {
		grouped = append(grouped, g.Parameters...)
	}
	slices.Sort(grouped)
	if want := slices.Sorted(maps.Keys(s.Parameters)); !slices.Equal(grouped, want) {
		t.Errorf("template.yaml: the parameter groups have %q, want %q", grouped, want)
	}
}

// The parameters of samconfig.toml are valid, so that sam deploy doesn't fail, also
// as sam deploy --guided saves them: in quotes.
func TestSAMConfig(t *testing.T) {
	t.Parallel()
	overrides := regexp.MustCompile(`(?m)^parameter_overrides = "(.*)"$`).FindAllStringSubmatch(readFile(t, "samconfig.toml"), -1)
	if len(overrides) != 2 {
		t.Errorf("samconfig.toml: found %d lines of parameter_overrides, want those of two profiles", len(overrides))
	}
	for _, m := range overrides {
		parameters := map[string]string{}
		for _, o := range regexp.MustCompile(`(\w+)=(\\".*?\\"|\S+)`).FindAllStringSubmatch(m[1], -1) {
			parameters[o[1]] = strings.Trim(o[2], `\"`)
		}
		if refused := deploy(t, parameters).Refused; len(parameters) == 0 || len(refused) > 0 {
			t.Errorf("samconfig.toml: template.yaml refuses %q of %q", refused, m[1])
		}
	}
}

// Cognito's token endpoint has another host in AWS GovCloud (US).
// See https://docs.aws.amazon.com/govcloud-us/latest/UserGuide/govcloud-cog.html.
func TestTokenURL(t *testing.T) {
	t.Parallel()
	for region, host := range map[string]string{"eu-central-1": "auth.eu-central-1", "us-gov-west-1": "auth-fips.us-gov-west-1"} {
		s := do(t, job{Template: readFile(t, "template.yaml"), Region: region, Parameters: map[string]string{"MachineClient": "true"}})
		if got, want := str(s.Outputs["TokenUrl"], "Value"), "https://${TokenDomain}."+host+".amazoncognito.com/oauth2/token"; got != want {
			t.Errorf("TokenUrl is %s, want %s", got, want)
		}
	}
}

// The Makefile and template.yaml default to the same architecture.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^ARCH \?= (\w+)$`).FindStringSubmatch(readFile(t, "Makefile"))
	if m == nil {
		t.Fatal("Makefile: no line ARCH ?= …")
	}
	want := map[string]string{"arm64": "arm64", "amd64": "x86_64"}[m[1]]
	if got := str(deploy(t, nil).Parameters["Architecture"].Default); got != want {
		t.Errorf("Makefile: ARCH is %s by default; template.yaml: Architecture is %s", m[1], got)
	}
}

// The documentation has a row for each parameter, with its default.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		text.WriteString(readFile(t, strings.TrimPrefix(page, "../../")))
	}
	documented := map[string]string{}
	for _, table := range regexp.MustCompile(`(?m)^\| parameter \|.*\n.*\n((?:\|.*\n)+)`).FindAllStringSubmatch(text.String(), -1) {
		for row := range strings.Lines(table[1]) {
			cells := strings.Split(strings.ReplaceAll(row, "`", ""), " | ")
			documented[strings.TrimPrefix(cells[0], "| ")] = cells[1]
		}
	}
	s := deploy(t, map[string]string{"MachineClient": "true"})
	for name, p := range s.Parameters {
		if want := cmp.Or(str(p.Default), "none"); documented[name] != want {
			t.Errorf("docs: the default of %s is %q, want %s, as in template.yaml", name, documented[name], want)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs: template.yaml has no parameter %s", name)
	}
	for _, m := range regexp.MustCompile(`\$\(output (\w+)\)`).FindAllStringSubmatch(text.String(), -1) {
		if s.Outputs[m[1]] == nil {
			t.Errorf("README.md or docs use the output %s, which template.yaml lacks", m[1])
		}
	}
}
