package template

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/issuer"
)

// checkSettings finds settings of the SAM CLI that the template doesn't fit.
func checkSettings(settings, template node, report report) {
	stacks := map[string]string{}
	for _, profile := range []string{"default", "production"} {
		stack := str(settings, profile, "global", "parameters", "stack_name")
		if other, ok := stacks[stack]; ok || stack == "" {
			report("%s has the stack %q, like %q", profile, stack, other)
		}
		stacks[stack] = profile
		deploy := object(settings, profile, "deploy", "parameters")
		if str(deploy, "capabilities") != "CAPABILITY_IAM" || str(deploy, "resolve_s3") != "true" || str(deploy, "confirm_changeset") != "true" {
			report("%s deploys with %s", profile, str(deploy))
		}
		for o := range strings.FieldsSeq(str(deploy, "parameter_overrides")) {
			name, value, _ := strings.Cut(o, "=")
			values := list(template, "Parameters", name, "AllowedValues")
			if !slices.ContainsFunc(values, func(v any) bool { return str(v) == value }) {
				report("%s sets %s, and the template takes %s", profile, o, str(values))
			}
		}
	}
	if got := str(settings, "production", "deploy", "parameters", "parameter_overrides"); !strings.Contains(got, "Deployment=Canary") {
		report("production goes over to a new version at once")
	}
}

func TestSettings(t *testing.T) {
	template, text := source(t), readFile(t, "../../samconfig.toml")
	changed := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("samconfig.toml has no %q", old)
		}
		return strings.ReplaceAll(text, old, new)
	}
	tests := []struct{ text, want string }{
		{text, ""},
		{changed("plants-production", "plants"), "like"},
		{changed("[production.deploy", "[staging.deploy"), "production deploys with"},
		{changed("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"), "default deploys with"},
		{changed("LogRetention=7", "LogRetention=8"), "LogRetention=8"},
		{changed("LogRetention=7", "Retention=7"), "Retention=7"},
		{changed("Canary10Percent5Minutes", "AllAtOnce"), "at once"},
	}
	var jobs []job
	for _, tt := range tests {
		jobs = append(jobs, job{TOML: tt.text})
	}
	for i, r := range do(t, jobs...) {
		var found []string
		checkSettings(r.Value, template, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
		got := strings.Join(found, "\n")
		if want := tests[i].want; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("samconfig.toml, text %d: findings %q, want %q", i, got, want)
		}
	}
}

// checkMakefile finds a build that doesn't fit the template: another target,
// or another processor by default.
func checkMakefile(makefile string, template node, report report) {
	if !regexp.MustCompile(`(?m)^build-` + function + `:`).MatchString(makefile) {
		report("the Makefile has no target build-%s, which sam build calls", function)
	}
	arch := regexp.MustCompile(`(?m)^ARCH *\?= *(\w+)$`).FindStringSubmatch(makefile)
	if arch == nil {
		report("the Makefile has no ARCH ?= …")
		return
	}
	architecture := map[string]string{"arm64": "arm64", "amd64": "x86_64"}[arch[1]]
	if want := str(template, "Parameters", "Architecture", "Default"); architecture != want {
		report("the Makefile builds for %s, the template's default is %s", arch[1], want)
	}
	for _, word := range []string{"'" + issuer.Name + "'", "'" + issuer.Audience + "'", issuer.KeysPath} {
		if !strings.Contains(makefile, word) {
			report("start-api doesn't know the local issuer's %s", word)
		}
	}
}

func TestMakefile(t *testing.T) {
	template, makefile := source(t), readFile(t, "../../Makefile")
	for _, tt := range []struct{ old, new, want string }{
		{"", "", ""},
		{"build-PlantFunction:", "build-Function:", "no target build-PlantFunction"},
		{"ARCH ?= arm64", "ARCH ?= amd64", "builds for amd64"},
		{"ARCH ?= arm64", "ARCH = arm64", "no ARCH"},
		{issuer.Name, "urn:other", issuer.Name},
	} {
		if !strings.Contains(makefile, tt.old) {
			t.Errorf("the Makefile has no %q", tt.old)
		}
		var found []string
		checkMakefile(strings.ReplaceAll(makefile, tt.old, tt.new), template, func(format string, args ...any) {
			found = append(found, fmt.Sprintf(format, args...))
		})
		got := strings.Join(found, "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("with %q for %q: findings %q, want %q", tt.new, tt.old, got, tt.want)
		}
	}
}

// checkReadme finds parameters and outputs that README doesn't have, or has
// otherwise than the template.
func checkReadme(readme string, template node, report report) {
	for name, p := range object(template, "Parameters") {
		value := "none"
		if v := str(p, "Default"); v != "" {
			value = "`" + v + "`"
		}
		if row := "| `" + name + "` | " + value + " |"; !strings.Contains(readme, row) {
			report("README has no row %s", row)
		}
	}
	for name := range object(template, "Outputs") {
		if !strings.Contains(readme, name) {
			report("README doesn't say what the output %s is for", name)
		}
	}
	for _, m := range regexp.MustCompile(`\$\(output (\w+)\)`).FindAllStringSubmatch(readme, -1) {
		if at(template, "Outputs", m[1]) == nil {
			report("README uses the output %s, which isn't there", m[1])
		}
	}
}

func TestReadme(t *testing.T) {
	template, readme := source(t), readFile(t, "../../README.md")
	for _, tt := range []struct{ old, new, want string }{
		{"", "", ""},
		{"| `Architecture` | `arm64` |", "| `Architecture` | `x86_64` |", "no row | `Architecture` |"},
		{"| `TokenIssuer` | none |", "", "no row | `TokenIssuer` |"},
		{"AccessLogGroup", "", "AccessLogGroup"},
		{"$(output BaseUrl)", "$(output BaseURL)", "BaseURL, which isn't there"},
	} {
		if !strings.Contains(readme, tt.old) {
			t.Errorf("README has no %q", tt.old)
		}
		var found []string
		checkReadme(strings.ReplaceAll(readme, tt.old, tt.new), template, func(format string, args ...any) {
			found = append(found, fmt.Sprintf(format, args...))
		})
		got := strings.Join(found, "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("with %q for %q: findings %q, want %q", tt.new, tt.old, got, tt.want)
		}
	}
}
