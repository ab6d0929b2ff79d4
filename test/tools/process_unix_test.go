//go:build unix

package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A command with child processes ends, and what comes after it is run, when its
// owner is killed.
func TestStart(t *testing.T) {
	const ownerEnv = "PLANTSTORE_TEST_OWNER"
	if log := os.Getenv(ownerEnv); log != "" { // the owner, which is killed
		_, err := Start(exec.Command("/bin/sh", "-c", "sleep 1000 & trap 'wait; echo ended >>"+log+"' TERM; echo ready >>"+log+"; wait"), "echo after >>"+log)
		if err != nil {
			t.Fatal(err)
		}
		select {}
	}
	log := filepath.Join(t.TempDir(), "log")
	await := func(want string) {
		t.Helper()
		Await(t, func() error {
			b, _ := os.ReadFile(log)
			if string(b) != want {
				return fmt.Errorf("the log is %q, want %q", b, want)
			}
			return nil
		})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(self, "-test.run=^TestStart$")
	owner.Env = append(os.Environ(), ownerEnv+"="+log)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	await("ready\n")
	owner.Process.Kill()
	owner.Wait()
	await("ready\nended\nafter\n")
}

func TestStop(t *testing.T) {
	p, err := Start(exec.Command("sleep", "1000"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Stop() {
		t.Error("the command had to be killed")
	}
	if p, err = Start(exec.Command("go", "no-such-command"), ""); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
	if got := p.Output.String(); !strings.Contains(got, "unknown command") {
		t.Errorf("output %q", got)
	}
	if _, err := Start(exec.Command("no-such-command"), ""); err == nil {
		t.Error("no error for a command that doesn't exist")
	}
}
