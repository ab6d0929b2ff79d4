package template

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each alarm notifies AlarmTopic and leads to its section of the runbook, and those that a
// deployment watches exist. The snapshots show what the alarms watch.
func TestAlarms(t *testing.T) {
	t.Parallel()
	var sections, names []string
	headings := regexp.MustCompile(`(?m)^### (.*)$`)
	for _, heading := range headings.FindAllStringSubmatch(readFile(t, "docs/operations.md"), -1) {
		sections = append(sections, strings.ToLower(strings.ReplaceAll(heading[1], " ", "-")))
	}
	s := deploy(t, everything(t))
	for name, r := range s.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		names = append(names, "${"+name+"}", str(r.Properties, "AlarmName"))
		for _, key := range []string{"AlarmActions", "OKActions"} {
			if got := str(r.Properties, key); got != `["`+topic+`"]` {
				t.Errorf("template.yaml: %s of %s are %s, want AlarmTopic", key, name, got)
			}
		}
		_, section, _ := strings.Cut(str(r.Properties, "AlarmDescription"), "See docs/operations.md#")
		if !slices.Contains(sections, strings.TrimSuffix(section, ".")) {
			t.Errorf("template.yaml: the description of %s must name its section of docs/operations.md, not %q", name, section)
		}
		// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
		if n := strings.Count(str(r.Properties, "Metrics"), `"MetricStat"`); n > 10 {
			t.Errorf("template.yaml: %s has %d metrics, and CloudWatch takes 10: make two alarms of it", name, n)
		}
	}
	for _, alarm := range list(s.Resources[function+"DeploymentGroup"].Properties, "AlarmConfiguration", "Alarms") {
		if !slices.Contains(names, str(alarm, "Name")) {
			t.Errorf("template.yaml: a deployment watches %s, which isn't an alarm of the stack", str(alarm, "Name"))
		}
	}
}
