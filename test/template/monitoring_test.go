package template

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/lambdahttp"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/sam"
)

const topic = "arn:aws:sns:eu-central-1:123456789012:alarms"

// monitored returns the alarms and the resources of monitoring.yaml, deployed
// as template.yaml does.
func monitored(t *testing.T) (alarms map[string]resource, s, nested stack) {
	t.Helper()
	s = deploy(t, map[string]string{"AlarmTopic": topic, "Dashboard": "true"})
	parameters := map[string]string{}
	for name, value := range at(s.Resources["Monitoring"].Properties, "Parameters").(map[string]any) {
		parameters[name] = str(value)
	}
	nested = do(t, job{Template: readFile(t, "monitoring.yaml"), Parameters: parameters})
	if got, want := slices.Sorted(maps.Keys(parameters)), slices.Sorted(maps.Keys(nested.Parameters)); !slices.Equal(got, want) {
		t.Errorf("template.yaml: Monitoring has the parameters %q, monitoring.yaml declares %q", got, want)
	}
	alarms = map[string]resource{}
	for _, resources := range []map[string]resource{s.Resources, nested.Resources} {
		for name, r := range resources {
			if r.Type == "AWS::CloudWatch::Alarm" {
				alarms[name] = r
			}
		}
	}
	return alarms, s, nested
}

// number returns the number at the path, or 0.
func number(v any, path ...any) float64 {
	n, _ := strconv.ParseFloat(str(v, path...), 64)
	return n
}

// Each alarm notifies the topic, and its description leads to a section of the
// runbook. Both say when it goes off.
func TestAlarms(t *testing.T) {
	t.Parallel()
	alarms, s, nested := monitored(t)
	slow, failures := alarms["SlowResponses"].Properties, alarms["ApiFailures"].Properties
	minimum := regexp.MustCompile(`failures >= (\d+)`).FindString(str(failures, "Metrics", 0, "Expression"))
	conditions := map[string][]string{
		"SlowResponses": {
			fmt.Sprintf("For %g minutes", number(slow, "Period")*number(slow, "EvaluationPeriods")/60),
			fmt.Sprintf("%g%% of the", 100-number(strings.TrimPrefix(str(slow, "ExtendedStatistic"), "p"))),
			fmt.Sprintf("took more than %g s.", number(slow, "Threshold")/1000),
		},
		"ApiFailures": {
			fmt.Sprintf("More than %g%% of the requests", number(failures, "Threshold")),
			strings.Replace(minimum, "failures >=", "at least", 1),
		},
	}
	runbook := readFile(t, "docs/operations.md")
	for name, alarm := range alarms {
		for _, key := range []string{"AlarmActions", "OKActions"} {
			if got := str(alarm.Properties, key); got != `["`+topic+`"]` {
				t.Errorf("%s of %s are %s, want those of AlarmTopic", key, name, got)
			}
		}
		anchor := regexp.MustCompile(`See docs/operations\.md#([a-z-]+)\.$`).FindStringSubmatch(str(alarm.Properties, "AlarmDescription"))
		if anchor == nil {
			t.Errorf("the description of %s doesn't end with its section of docs/operations.md", name)
			continue
		}
		heading := strings.ReplaceAll(anchor[1], "-", " ")
		section := regexp.MustCompile("(?i)\n### " + heading + "\n((?:[^#].*)?\n)*").FindString(runbook)
		if section == "" {
			t.Errorf("docs/operations.md has no section %q for the alarm %s", heading, name)
		}
		section = strings.Join(strings.Fields(section), " ")
		for _, condition := range conditions[name] {
			if description := str(alarm.Properties, "AlarmDescription"); !strings.Contains(description, condition) || !strings.Contains(section, condition) {
				t.Errorf("%s: the description %q or the section in docs/operations.md doesn't say %q", name, description, condition)
			}
		}
	}
	words := []string{"no", "one", "two", "three", "four", "five", "six"}
	for prefix, resources := range map[string]map[string]resource{"adds": nested.Resources, "The": s.Resources} {
		n, metrics := 0, 0
		for _, r := range resources {
			if r.Type == "AWS::CloudWatch::Alarm" {
				n++
				metrics += max(1, strings.Count(str(r.Properties, "Metrics"), `"MetricStat"`))
			}
		}
		cost := fmt.Sprintf(`%s %s alarms[^$|]*, \$%.2f a month`, prefix, words[n], 0.1*float64(metrics))
		if !regexp.MustCompile(cost).MatchString(runbook) {
			t.Errorf("docs/operations.md doesn't say %s", cost)
		}
	}
	if got := str(s.Resources[function+"DeploymentGroup"].Properties, "TriggerConfigurations", 0, "TriggerTargetArn"); got != topic {
		t.Errorf("failed deployments are reported to %q, want AlarmTopic", got)
	}
	for name, r := range do(t, job{Template: readFile(t, "monitoring.yaml")}).Resources {
		if r.Type != "AWS::Logs::QueryDefinition" {
			t.Errorf("monitoring.yaml: %s exists without AlarmTopic and Dashboard, and is not free", name)
		}
	}
}

// A deployment watches alarms that exist, and they watch the alias that it
// updates. The linter doesn't check names.
func TestDeploymentAlarms(t *testing.T) {
	t.Parallel()
	s := deploy(t, nil)
	var names []string
	alias := str(s.Resources[function+"Aliaslive"].Properties, "Name")
	for name, r := range s.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		names = append(names, str(r.Properties, "AlarmName"), "${"+name+"}")
		for _, d := range list(r.Properties, "Dimensions") {
			if value := str(d, "Value"); str(d, "Name") == "Resource" && value != "${"+function+"}:"+alias {
				t.Errorf("template.yaml: %s watches %s, but the alias is called %q", name, value, alias)
			}
		}
	}
	watched := list(s.Resources[function+"DeploymentGroup"].Properties, "AlarmConfiguration", "Alarms")
	if len(watched) != 2 {
		t.Errorf("template.yaml: the deployment watches %d alarms, want 2", len(watched))
	}
	for _, alarm := range watched {
		if name := str(alarm, "Name"); !slices.Contains(names, name) {
			t.Errorf("template.yaml: the deployment watches the alarm %s, which doesn't exist", name)
		}
	}

	// One failure among a few requests is no reason to roll back.
	expression := str(s.Resources["ApiFailures"].Properties, "Metrics", 0, "Expression")
	if !regexp.MustCompile(`^IF\(failures >= \d+, 100 \* failures / requests, 0\)$`).MatchString(expression) {
		t.Errorf("template.yaml: ApiFailures needs a minimum of failures, not %s", expression)
	}

	// CodeDeploy keeps triggers and alarms that an update leaves out.
	if got := str(s.Resources[function+"DeploymentGroup"].Properties, "TriggerConfigurations"); got != "[]" {
		t.Errorf("template.yaml: without AlarmTopic the TriggerConfigurations are %s, want an empty list", got)
	}
	s = deploy(t, map[string]string{"RollbackAlarms": "false"})
	if got := str(s.Resources[function+"DeploymentGroup"].Properties, "AlarmConfiguration"); got != "{}" {
		t.Errorf("template.yaml: with RollbackAlarms=false the AlarmConfiguration is %s, want an empty one", got)
	}
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	_, _, nested := monitored(t)
	body := str(nested.Resources["Overview"].Properties, "DashboardBody")
	if !json.Valid([]byte(body)) || !strings.Contains(body, `"${PlantApi}"`) {
		t.Errorf("monitoring.yaml: the dashboard is not JSON with the metrics of the API:\n%s", body)
	}
	// An account has one dashboard of a name, in all regions together:
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutDashboard.html
	if name := str(nested.Resources["Overview"].Properties, "DashboardName"); !strings.HasSuffix(name, "-"+sam.Region) {
		t.Errorf("monitoring.yaml: the stack of another region would overwrite the dashboard %s", name)
	}
}

// panicking is a store whose failure makes a log line with all fields.
type panicking struct{ plants.Store }

func (panicking) List(context.Context, string, plants.Query) (plants.Page, error) { panic("failure") }

// logFields returns the names of the fields of the function's log lines.
func logFields(t *testing.T) []string {
	t.Helper()
	issuer := authtest.NewIssuer(t)
	var out bytes.Buffer
	log := logging.New(&out, slog.LevelInfo)
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "1"})
	event := fmt.Appendf(nil, `{"version":"2.0","rawPath":"/plants","headers":{"authorization":"Bearer %s"},`+
		`"requestContext":{"requestId":"2","http":{"method":"GET"}}}`, issuer.Token("alice"))
	if _, err := lambdahttp.New(handlers.New(handlers.Stores{Plants: panicking{}}, issuer.Verifier(t, config.Tokens{}), log), log).Invoke(ctx, event); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("the log is not one line of JSON: %v\n%s", err, &out)
	}
	return slices.Collect(maps.Keys(line))
}

// The saved queries use fields that the lines of their log have, and the runbook
// uses queries that exist.
func TestQueries(t *testing.T) {
	t.Parallel()
	_, s, nested := monitored(t)
	var access []string
	format := str(s.Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings", "Format")
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(format, -1) {
		access = append(access, m[1])
	}
	fields := map[string][]string{`["${FunctionLogs}"]`: logFields(t), `["${AccessLogs}"]`: access}
	names := map[string]bool{}
	syntax := strings.Fields("fields filter stats sort limit by as or desc count latest ispresent bin m @timestamp")
	quoted, alias, word := regexp.MustCompile(`"[^"]*"`), regexp.MustCompile(`\bas (\w+)`), regexp.MustCompile(`@?[A-Za-z_]\w*`)
	for name, r := range nested.Resources {
		if r.Type != "AWS::Logs::QueryDefinition" {
			continue
		}
		_, queryName, _ := strings.Cut(str(r.Properties, "Name"), "/")
		names[queryName] = true
		query := quoted.ReplaceAllString(str(r.Properties, "QueryString"), "")
		known := slices.Concat(syntax, fields[str(r.Properties, "LogGroupNames")])
		for _, m := range alias.FindAllStringSubmatch(query, -1) {
			known = append(known, m[1])
		}
		for _, w := range word.FindAllString(query, -1) {
			if !slices.Contains(known, w) {
				t.Errorf("monitoring.yaml: %s uses %q, which is not a field of its log", name, w)
			}
		}
	}
	for _, m := range regexp.MustCompile("query\\s+`(.*?)`").FindAllStringSubmatch(readFile(t, "docs/operations.md"), -1) {
		if !names[m[1]] {
			t.Errorf("docs/operations.md: monitoring.yaml has no query %q", m[1])
		}
	}
}
