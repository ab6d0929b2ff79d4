package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"example.com/plantstore/internal/lambdahttp"
)

// A request has the same time as in a deployment: what lambdahttp leaves of the function's
// Timeout in template.yaml.
func TestRequestTimeout(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	timeout := regexp.MustCompile(`(?m)^      Timeout: (\d+)$`).FindSubmatch(template)
	if timeout == nil {
		t.Fatal("template.yaml has no Timeout")
	}
	seconds, _ := strconv.Atoi(string(timeout[1]))
	if want := time.Duration(seconds)*time.Second - lambdahttp.DeadlineMargin; requestTimeout != want {
		t.Errorf("requestTimeout is %v, want %v as on Lambda", requestTimeout, want)
	}
}
