package plantstest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

func TestMemory(t *testing.T) { TestStore(t, new(Memory)) }

// The test of each promise must fail for the faulty stores, or it would also miss these
// faults in a real store. In a synctest bubble, calls overlap on any machine, and waiting
// takes no time.
func TestFaults(t *testing.T) {
	violated := map[string]bool{}
	for _, f := range faults {
		violated[f.promise] = true
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			var group sync.WaitGroup
			for _, p := range promises {
				if p.name == f.promise {
					group.Go(func() { p.test(r, suite{f.store}) })
				}
			}
			group.Wait()
			if !r.failed {
				t.Errorf("the test of %q passes a store that %s: mend the test in internal/plants/plantstest", f.promise, f.fault)
			}
		})
	}
	for _, promise := range promises {
		if !violated[promise.name] {
			t.Errorf("no store violates %q: add one to faults in internal/plants/plantstest/faults_test.go", promise.name)
		}
	}
}

// A recorder is a test that may fail. The test runs on a separate goroutine, which the
// first fatal error ends.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }
