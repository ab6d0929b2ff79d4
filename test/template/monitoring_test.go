package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const topic = "arn:aws:sns:eu-central-1:123456789012:alarms"

// monitoring returns monitoring.yaml, deployed as the stack deploys it.
func (s stack) monitoring(t *testing.T) stack {
	t.Helper()
	parameters := map[string]string{}
	for name, value := range at(s.Resources["Monitoring"].Properties, "Parameters").(map[string]any) {
		parameters[name] = str(value)
	}
	nested := do(t, job{Template: readFile(t, "monitoring.yaml"), Parameters: parameters})
	if got, want := slices.Sorted(maps.Keys(parameters)), slices.Sorted(maps.Keys(nested.Parameters)); !slices.Equal(got, want) {
		t.Errorf("template.yaml: Monitoring has the parameters %q, monitoring.yaml declares %q", got, want)
	}
	return nested
}

// metric returns the namespace, the name, and the dimensions of a metric.
func metric(v any) string {
	text := str(v, "Namespace") + " " + str(v, "MetricName")
	for _, d := range list(v, "Dimensions") {
		text += " " + str(d, "Name") + "=" + str(d, "Value")
	}
	return text
}

// alarm describes an alarm: its metrics, and when it goes off.
func (r resource) alarm() string {
	p := r.Properties
	text := metric(p) + " " + str(p, "Statistic") + str(p, "ExtendedStatistic") + " " + str(p, "Period")
	if metrics := list(p, "Metrics"); metrics != nil {
		text = str(metrics[0], "Expression")
		for _, m := range metrics[1:] {
			text += fmt.Sprintf("\n%s=%s %s %s", str(m, "Id"), metric(at(m, "MetricStat", "Metric")), str(m, "MetricStat", "Stat"), str(m, "MetricStat", "Period"))
		}
	}
	return fmt.Sprintf("%s\n%s %s in %s periods, %s", text, str(p, "ComparisonOperator"), str(p, "Threshold"), str(p, "EvaluationPeriods"), str(p, "TreatMissingData"))
}

// An alarm on anything else never goes off, or always does. CloudFormation doesn't
// check names.
func TestAlarms(t *testing.T) {
	t.Parallel()
	const api = "ApiId=${PlantApi} Stage=$default"
	want := map[string]string{
		"FunctionErrors": "AWS/Lambda Errors FunctionName=${PlantFunction} Resource=${PlantFunction}:live Sum 60\n" +
			"GreaterThanThreshold 0 in 1 periods, notBreaching",
		"ApiFailures": "IF(failures >= 5, 100 * failures / requests, 0)\n" +
			"failures=AWS/ApiGateway 5xx " + api + " Sum 60\nrequests=AWS/ApiGateway Count " + api + " Sum 60\n" +
			"GreaterThanThreshold 1 in 1 periods, notBreaching",
		"FunctionThrottles": "AWS/Lambda Throttles FunctionName=${PlantFunction} Sum 60\nGreaterThanThreshold 0 in 1 periods, notBreaching",
		"SlowResponses":     "AWS/ApiGateway Latency " + api + " p99 300\nGreaterThanThreshold 2000 in 3 periods, notBreaching",
		"TableErrors": "FILL(puts, 0) + FILL(deletes, 0) + FILL(queries, 0)\n" +
			"puts=AWS/DynamoDB SystemErrors TableName=${PlantTable} Operation=PutItem Sum 60\n" +
			"deletes=AWS/DynamoDB SystemErrors TableName=${PlantTable} Operation=DeleteItem Sum 60\n" +
			"queries=AWS/DynamoDB SystemErrors TableName=${PlantTable} Operation=Query Sum 60\n" +
			"GreaterThanThreshold 0 in 1 periods, notBreaching",
		"WriteThrottles": "FILL(table, 0) + FILL(index, 0)\n" +
			"table=AWS/DynamoDB WriteThrottleEvents TableName=${PlantTable} Sum 60\n" +
			"index=AWS/DynamoDB WriteThrottleEvents TableName=${PlantTable} GlobalSecondaryIndexName=owner-index Sum 60\n" +
			"GreaterThanThreshold 0 in 1 periods, notBreaching",
	}
	s := deploy(t, map[string]string{"AlarmTopic": topic})
	for _, resources := range []map[string]resource{s.Resources, s.monitoring(t).Resources} {
		for name, r := range resources {
			if r.Type != "AWS::CloudWatch::Alarm" {
				continue
			}
			if got := r.alarm(); got != want[name] {
				t.Errorf("%s watches\n%s\nwant\n%s", name, got, want[name])
			}
			for _, key := range []string{"AlarmActions", "OKActions"} {
				if got := str(r.Properties, key); got != `["`+topic+`"]` {
					t.Errorf("%s of %s are %s, want AlarmTopic", key, name, got)
				}
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("no alarm %s", name)
	}
	for name, r := range deploy(t, nil).monitoring(t).Resources {
		if r.Type != "AWS::Logs::QueryDefinition" {
			t.Errorf("monitoring.yaml: %s exists without AlarmTopic and Dashboard, and is not free", name)
		}
	}
}

// A deployment watches both alarms of template.yaml and reports to AlarmTopic. CodeDeploy
// keeps alarms and triggers that an update leaves out.
func TestDeploymentGroup(t *testing.T) {
	t.Parallel()
	const (
		alarms   = `{"Alarms":[{"Name":"${FunctionErrors}"},{"Name":"plants-api-failures"}],"Enabled":true}`
		triggers = `[{"TriggerEvents":["DeploymentFailure","DeploymentStop","DeploymentRollback"],"TriggerName":"failures","TriggerTargetArn":"` + topic + `"}]`
		kind     = "CodeDeployDefault.LambdaCanary10Percent5Minutes"
	)
	for parameters, want := range map[string][3]string{
		"":                     {alarms, "[]", kind},
		"RollbackAlarms=false": {"{}", "[]", kind},
		"Deployment=AllAtOnce": {alarms, "[]", "CodeDeployDefault.LambdaAllAtOnce"},
		"AlarmTopic=" + topic:  {alarms, triggers, kind},
	} {
		s := deploy(t, overrides(parameters))
		group := s.Resources[function+"DeploymentGroup"].Properties
		if got := [3]string{str(group, "AlarmConfiguration"), str(group, "TriggerConfigurations"), str(group, "DeploymentConfigName")}; got != want {
			t.Errorf("template.yaml: with %q a deployment has the alarms, triggers and type %q, want %q", parameters, got, want)
		}
		if got := str(s.Resources["ApiFailures"].Properties, "AlarmName"); got != "plants-api-failures" {
			t.Errorf("template.yaml: ApiFailures is called %s, but the deployment watches plants-api-failures", got)
		}
	}
}

// overrides returns parameters in the form of sam deploy --parameter-overrides.
func overrides(text string) map[string]string {
	parameters := map[string]string{}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		parameters[name] = strings.Trim(value, `\"`)
	}
	return parameters
}
