package harness

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// Missing skips a test that needs an unavailable tool; with CI=true the test
// fails. The first line of err says what to install. Since go test hides the output
// of skipped tests, it also goes to the terminal, once for each package. The package
// runs again next time, since the tool may be installed then; see [Main].
func Missing(t testing.TB, err error) {
	t.Helper()
	if !inMain.Load() {
		t.Fatal("this package needs a TestMain that calls harness.Main, or go test caches that the test was skipped")
	}
	if ci, _ := strconv.ParseBool(os.Getenv("CI")); ci {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if _, said := said.LoadOrStore(text, nil); !said {
		if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			defer tty.Close()
			fmt.Fprintln(tty, "TESTS SKIPPED: "+text)
		}
	}
	skipped.Store(true)
	t.Skip(err)
}

var (
	said            sync.Map
	inMain, skipped atomic.Bool
)
