//go:build unix

package template

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
)

// make check-deployed prints the report of the deployed function, and fails
// unless all parts work.
func TestCheckDeployed(t *testing.T) {
	t.Parallel()
	harness.Need(t, "make")
	env := Python(t).Env
	for report, works := range map[string]bool{`{"ok":true,"parts":{}}`: true, `{"ok":false,"parts":{"x":"\"ok\":true"}}`: false, "no report": false} {
		invoke := func(_ context.Context, payload []byte) ([]byte, error) {
			if string(payload) != `{"selftest": true}` || report == "no report" {
				return nil, errors.New(report)
			}
			return []byte(report), nil
		}
		url := lambdalocal.StartAPI(t, "plants-PlantFunction-1:live", invoke, func(w http.ResponseWriter, r *http.Request) { // CloudFormation's DescribeStackResource
			fmt.Fprintf(w, "<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>%s-%s-1"+
				"</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>",
				r.FormValue("StackName"), r.FormValue("LogicalResourceId"))
		})
		cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "--no-print-directory", "check-deployed")
		cmd.Env = append(env, "AWS_ENDPOINT_URL="+url)
		if out, err := cmd.CombinedOutput(); (err == nil) != works || !strings.Contains(string(out), report) {
			t.Errorf("%v, want success: %t and %s\n%s", err, works, report, out)
		}
	}
}
