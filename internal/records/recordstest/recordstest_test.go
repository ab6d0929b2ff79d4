package recordstest

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/plantstore/internal/records"
)

func TestMemory(t *testing.T) {
	store := new(memory)
	TestStore(t, Samples(), func(*testing.T) records.Store[Sample] { return store })
}

// A promise whose test passes a store with one of these faults would pass a real store
// with it. In a bubble of synctest, calls overlap on any machine, and waiting takes no time.
func TestFaults(t *testing.T) {
	all, violated := promises[Sample](), map[string]bool{}
	for _, f := range faults {
		i := slices.IndexFunc(all, func(p promise[Sample]) bool { return p.name == f.promise })
		if i < 0 {
			t.Errorf("faults in internal/records/recordstest/faults_test.go has %q, which is not the name of a promise", f.promise)
			continue
		}
		violated[f.promise] = true
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			var group sync.WaitGroup
			group.Go(func() { all[i].test(r, suite[Sample]{f.store, Samples()}) })
			group.Wait()
			if !r.failed {
				t.Errorf("the test of %q passes a store that %s: mend the test in internal/records/recordstest", f.promise, f.fault)
			}
		})
	}
	for _, promise := range all {
		if !violated[promise.name] {
			t.Errorf("no store violates %q: add one to faults in internal/records/recordstest/faults_test.go", promise.name)
		}
	}
}

// A recorder is a test that may fail. The test runs in a goroutine of its own, which
// its first fatal error ends.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }
