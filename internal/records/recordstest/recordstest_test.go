package recordstest

import (
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/records"
)

// faultVariable names the fault that TestMemory tests.
const faultVariable = "RECORDSTEST_FAULT"

func TestMemory(t *testing.T) {
	patience = 50 * time.Millisecond // the memory is consistent
	store := cmp.Or[records.Store[Sample]](faults[os.Getenv(faultVariable)], new(memory))
	TestStore(t, func(t *testing.T) records.Store[Sample] { return store })
}

// Each promise has a fault. TestFaults runs the test of the violated promise in a
// process for each fault, and requires it to fail.
func TestFaults(t *testing.T) {
	for _, promise := range promises[Sample]() {
		if faults[promise.name] == nil {
			t.Errorf("no faulty store violates %q: add one to faults in internal/records/recordstest/faults_test.go", promise.name)
		}
	}
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			promise, _, _ := strings.Cut(fault, "/")
			subtest := "TestMemory/" + strings.ReplaceAll(promise, " ", "_")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(subtest, "/", "$/^")+"$")
			cmd.Env = append(os.Environ(), faultVariable+"="+fault)
			if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "--- FAIL: "+subtest+" ") {
				t.Errorf("%s did not fail:\n%s", subtest, out)
			}
		})
	}
}
