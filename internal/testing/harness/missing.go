package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Need calls [Missing] unless all commands are installed.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			Missing(t, fmt.Errorf("no %s: install it", command))
		}
	}
}

// Missing skips a test that needs an unavailable tool; with CI=true the test fails. The
// error says what to install.
func Missing(t testing.TB, err error) {
	t.Helper()
	if ci, _ := strconv.ParseBool(os.Getenv("CI")); ci {
		t.Fatal(err)
	}
	t.Skip(err)
}
