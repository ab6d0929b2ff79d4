package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The search for settings is much code, which takes time at each cold start
// even if nothing calls it. On Lambda the environment says everything.
func TestSettingsOfEnvironmentAlone(t *testing.T) {
	deps := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "example.com/plantstore/cmd/"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	const search = "github.com/aws/aws-sdk-go-v2/config\n"
	if strings.Contains(deps("lambda"), search) {
		t.Error("this program links the SDK's package config")
	}
	if !strings.Contains(deps("local"), search) {
		t.Error("cmd/local doesn't: the test looks for the wrong name")
	}
}
