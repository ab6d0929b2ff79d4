//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/sam"
	"example.com/plantstore/test/tools"
)

// make check-deployed prints the report of the deployed function, and fails
// unless all parts work.
func TestCheckDeployed(t *testing.T) {
	tools.Need(t, "make")
	installed := sam.Open(t)
	_, table := dynamolocal.Table(t)
	stacks := httptest.NewServer(http.HandlerFunc(describeStackResource))
	defer stacks.Close()
	for name, tt := range map[string]struct {
		table, profile, report string
		works                  bool
	}{
		"good":           {table, "default", `{"ok":true,"parts":{"index":"ok","keys":"ok","table":"ok"}}`, true},
		"production":     {table, "production", `{"ok":true,"parts":{"index":"ok","keys":"ok","table":"ok"}}`, true},
		"missing table":  {"no-such-table", "default", `"keys":"ok","table":"ResourceNotFoundException: `, false},
		"failed to init": {"no!name", "default", "errorMessage", false},
	} {
		f := startFunction(t, "TABLE_NAME="+tt.table)
		stack := map[string]string{"default": "plants", "production": "plants-production"}[tt.profile]
		lambda := httptest.NewServer(function(t, stack+"-PlantFunction-1:live", f.Invoke))
		defer lambda.Close()
		cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "--no-print-directory", "check-deployed", "ENV="+tt.profile)
		cmd.Env = append(installed.AWS(t), "AWS_ENDPOINT_URL_LAMBDA="+lambda.URL, "AWS_ENDPOINT_URL_CLOUDFORMATION="+stacks.URL)
		out, err := cmd.CombinedOutput()
		if (err == nil) != tt.works || !strings.Contains(string(out), tt.report) {
			t.Errorf("%s: %v, want success: %t and %s\n%s", name, err, tt.works, tt.report, out)
		}
	}
}

// describeStackResource is the API of CloudFormation for stacks with a resource
// PlantFunction.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackResource.html
func describeStackResource(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("Action") != "DescribeStackResource" || r.FormValue("LogicalResourceId") != "PlantFunction" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	io.WriteString(w, "<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>"+
		r.FormValue("StackName")+"-PlantFunction-1"+
		"</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>")
}
