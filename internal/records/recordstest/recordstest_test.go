package recordstest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// faultVariable names the fault that TestMemory tests.
const faultVariable = "RECORDSTEST_FAULT"

func TestMemory(t *testing.T) {
	patience = 50 * time.Millisecond // the memory is consistent
	TestStore(t, func(t *testing.T) records.Store[Sample] {
		fault := faults[os.Getenv(faultVariable)] // no fault if unset
		fault.memory = new(Memory[Sample])
		return fault
	})
}

// Each promise has a fault. TestFaults runs TestMemory in a separate process for each,
// and requires the subtest for the violated promise to fail.
func TestFaults(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, promise := range promises[Sample]() {
		if _, ok := faults[promise.name]; !ok {
			t.Errorf("no faulty store violates %q: add one to faults in internal/records/recordstest/faults_test.go", promise.name)
		}
	}
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			promise, _, _ := strings.Cut(fault, "/")
			subtest := "TestMemory/" + strings.ReplaceAll(promise, " ", "_")
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+strings.ReplaceAll(subtest, "/", "$/^")+"$")
			cmd.Env = append(os.Environ(), faultVariable+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the faulty store passed:\n%s", out)
			}
			if !regexp.MustCompile(`(?m)^ +--- FAIL: ` + subtest + ` `).Match(out) {
				t.Fatalf("%s did not fail:\n%s", subtest, out)
			}
		})
	}
}
