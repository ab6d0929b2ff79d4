package tools

import (
	"testing"
)

// recorder is a test that Missing ends. Fatal and Skip must not return, so they
// panic.
type recorder struct {
	testing.TB
	outcome string
}

func (r *recorder) Helper()      {}
func (r *recorder) Fatal(...any) { r.outcome = "failed"; panic(r) }
func (r *recorder) Skip(...any)  { r.outcome = "skipped"; panic(r) }

// What is missing skips a test, but never in CI.
func TestMissing(t *testing.T) {
	said.Store("no no-such-command: install it", nil) // not to the terminal
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed", "1": "failed"} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			r := &recorder{TB: t}
			defer func() {
				if recover(); r.outcome != want {
					t.Errorf("the test %s, want %s", r.outcome, want)
				}
			}()
			Need(r, "no-such-command")
		})
	}
}
