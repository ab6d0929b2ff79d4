package tools

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Need calls [Missing] unless all commands are installed.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	packages := map[string]string{"qemu-aarch64": " (Debian: qemu-user)"} // others are named like the command
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			Missing(t, fmt.Errorf("no %s: install it%s", command, packages[command]))
		}
	}
}

// Missing skips a test that needs an unavailable tool; with CI=true the test
// fails. The text of err says what to install. The error that it wraps, if any,
// comes last and is the reason.
//
// Since go test hides the output of skipped tests, the text without the reason
// also goes to the terminal, once for all packages of a go test command.
func Missing(t testing.TB, err error) {
	t.Helper()
	if ci, _ := strconv.ParseBool(os.Getenv("CI")); ci {
		t.Fatal(err)
	}
	text := err.Error()
	if reason := errors.Unwrap(err); reason != nil {
		text = strings.TrimSuffix(text, ": "+reason.Error())
	}
	text = "TESTS SKIPPED: " + text
	said := fmt.Sprintf("plantstore-skipped-%d-%x", os.Getppid(), crc32.ChecksumIEEE([]byte(text)))
	if !isChild && os.Mkdir(filepath.Join(os.TempDir(), said), 0o700) == nil {
		tellTerminal(text)
	}
	t.Skip(err)
}

// isChild reports whether this process is a test binary that a test has started.
// What is missing there may be part of that test.
var isChild = func() bool {
	const name = "PLANTSTORE_TEST"
	defer os.Setenv(name, "1")
	return os.Getenv(name) != ""
}()

// tellTerminal writes a line to the terminal that the tests were started from,
// if any, whatever standard output is.
var tellTerminal = func(line string) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONOUT$"
	}
	if tty, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
		defer tty.Close()
		fmt.Fprintln(tty, line)
	}
}
