package template

import (
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
)

const topic = "arn:aws:sns:eu-central-1:123456789012:alarms"

// By default nothing costs but the two alarms that roll back deployments.
func TestAlarms(t *testing.T) {
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
	for name, r := range deploy(t, overrides("AlarmTopic="+topic)).Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		for _, key := range []string{"AlarmActions", "OKActions"} {
			if got := str(r.Properties, key); got != `["`+topic+`"]` {
				t.Errorf("template.yaml: %s of %s are %s, want AlarmTopic", key, name, got)
			}
		}
		// With late data, the last period is always the fill value, so that the
		// alarm would never change its state.
		if strings.Contains(str(r.Properties, "Metrics"), "FILL(") && at(r.Properties, "DatapointsToAlarm") == nil {
			t.Errorf("template.yaml: %s needs DatapointsToAlarm, since FILL replaces the last data point if it is late", name)
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

// The alarms watch the actions on each table and its index, and the writes of both. They
// may watch other actions, too.
func TestTableAlarms(t *testing.T) {
	t.Parallel()
	s := deploy(t, restored("AlarmTopic="+topic))
	var want, got []string
	for _, table := range config.Tables {
		dimension := map[string]any{"Name": "TableName", "Value": "restored-" + table.Default}
		index := map[string]any{"Name": "GlobalSecondaryIndexName", "Value": dynamo.OwnerIndex}
		want = append(want, "WriteThrottles "+str([]any{dimension}), "WriteThrottles "+str([]any{dimension, index}))
		for _, action := range slices.Concat(dynamo.TableActions, dynamo.IndexActions) {
			operation := map[string]any{"Name": "Operation", "Value": strings.TrimPrefix(action, "dynamodb:")}
			want = append(want, "TableErrors "+str([]any{dimension, operation}))
		}
	}
	for _, alarm := range []string{"TableErrors", "WriteThrottles"} {
		for _, m := range list(s.Resources[alarm].Properties, "Metrics") {
			if dimensions := at(m, "MetricStat", "Metric", "Dimensions"); dimensions != nil {
				got = append(got, alarm+" "+str(dimensions))
			}
		}
	}
	for _, metric := range want {
		if !slices.Contains(got, metric) {
			t.Errorf("template.yaml: no alarm watches %s; these are watched:\n%s", metric, strings.Join(got, "\n"))
		}
	}
}
