package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const topic = "arn:aws:sns:eu-central-1:123456789012:alarms"

// metrics returns what the alarm watches, each as "namespace name dimensions statistic period".
func (r resource) metrics() (all []string) {
	add := func(metric any, statistic, period string) {
		words := []string{str(metric, "Namespace"), str(metric, "MetricName")}
		for _, d := range list(metric, "Dimensions") {
			words = append(words, str(d, "Name")+"="+str(d, "Value"))
		}
		all = append(all, strings.Join(append(words, statistic, period), " "))
	}
	if p := r.Properties; p["MetricName"] != nil {
		add(p, str(p, "Statistic")+str(p, "ExtendedStatistic"), str(p, "Period"))
	}
	for _, m := range list(r.Properties, "Metrics") {
		if m := at(m, "MetricStat"); m != nil {
			add(at(m, "Metric"), str(m, "Stat"), str(m, "Period"))
		}
	}
	return all
}

// condition returns when the alarm goes off, followed by its metrics.
func (r resource) condition() string {
	expression := ""
	for _, m := range list(r.Properties, "Metrics") {
		expression += str(m, "Expression")
	}
	points := cmp.Or(str(r.Properties, "DatapointsToAlarm"), str(r.Properties, "EvaluationPeriods"))
	text := fmt.Sprintf("%s %s %s in %s of %s periods, %s", expression, str(r.Properties, "ComparisonOperator"),
		str(r.Properties, "Threshold"), points, str(r.Properties, "EvaluationPeriods"), str(r.Properties, "TreatMissingData"))
	return strings.TrimSpace(text) + ": " + strings.Join(r.metrics(), ", ")
}

// An alarm on anything else would never go off, or always. Alarms are known by what they
// watch, since a copy may need several of a kind.
func TestAlarms(t *testing.T) {
	t.Parallel()
	const api = " ApiId=${PlantApi} Stage=$default"
	unseen := map[string]string{ // why, by condition
		"GreaterThanThreshold 0 in 1 of 1 periods, notBreaching: AWS/Lambda Errors FunctionName=${PlantFunction} Resource=${PlantFunction}:live Sum 60": "a crash or timeout of the live version rolls back a deployment",
		"IF(failures >= 5, 100 * failures / requests, 0) GreaterThanThreshold 1 in 1 of 1 periods, notBreaching: " +
			"AWS/ApiGateway 5xx" + api + " Sum 60, AWS/ApiGateway Count" + api + " Sum 60": "failed requests roll back a deployment, but not single ones of few",
		"IF(failures >= 5, 100 * failures / requests, 0) GreaterThanThreshold 1 in 1 of 1 periods, notBreaching: " +
			"AWS/ApiGateway 5xx" + api + " Sum 3600, AWS/ApiGateway Count" + api + " Sum 3600": "a service with one request a minute may fail all of them",
		"IF(errors >= 20, 100 * errors / requests, 0) GreaterThanThreshold 20 in 1 of 1 periods, notBreaching: " +
			"AWS/ApiGateway 4xx" + api + " Sum 3600, AWS/ApiGateway Count" + api + " Sum 3600": "a wrong audience gives everybody 401, and throttling 429",
		"GreaterThanThreshold 50 in 1 of 1 periods, notBreaching: AWS/Lambda Throttles FunctionName=${PlantFunction} Sum 60": "clients get 5xx that the function doesn't see",
		"GreaterThanThreshold 1 in 3 of 3 periods, notBreaching: AWS/ApiGateway Latency" + api + " PR(2000:60000) 300":       "clients wait longer than a cold start takes",
	}
	conditions := maps.Clone(unseen)
	for name, r := range deploy(t, overrides("AlarmTopic="+topic)).Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		if conditions[r.condition()] == "" {
			t.Errorf("template.yaml: %s goes off at\n%s\nwhich isn't in this test", name, r.condition())
		}
		delete(unseen, r.condition())
		// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
		if n := len(r.metrics()); n > 10 {
			t.Errorf("template.yaml: %s has %d metrics, and CloudWatch takes 10: make two alarms of it", name, n)
		}
		for _, key := range []string{"AlarmActions", "OKActions"} {
			if got := str(r.Properties, key); got != `["`+topic+`"]` {
				t.Errorf("template.yaml: %s of %s are %s, want AlarmTopic", key, name, got)
			}
		}
	}
	for condition, why := range unseen {
		t.Errorf("template.yaml: no alarm goes off at\n%s\nalthough %s", condition, why)
	}
}

// By default there are no alarms, which cost, but the two that roll back deployments.
func TestFree(t *testing.T) {
	t.Parallel()
	var free []string
	for name, r := range deploy(t, nil).Resources {
		if strings.HasPrefix(r.Type, "AWS::CloudWatch::") {
			free = append(free, name)
		}
	}
	slices.Sort(free)
	if want := []string{"ApiFailures", "FunctionErrors"}; !slices.Equal(free, want) {
		t.Errorf("template.yaml: the stack has by default %q, want %q", free, want)
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
