package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	syncCall   = regexp.MustCompile(`(?m)^\d+ +(?:f(?:data)?sync\(\d+<(.*?)>|(?:link|rename)\w*\(.*"(.*)")`)
	tempNumber = regexp.MustCompile(`\.\d+$`) // of os.CreateTemp
)

// Syncs runs the named test in a process of its own, with env added to its environment. It
// returns in their order what the process put on disk ("sync PATH"), and what it
// linked or renamed ("name PATH"), each once in a row. Temporary files end in ".N". It
// needs strace: a file system that loses power, such as ext4 with EXT4_IOC_SHUTDOWN,
// keeps more than it must, and so doesn't notice each missing sync.
func Syncs(t *testing.T, test string, env ...string) (calls []string) {
	t.Helper()
	Need(t, "strace")
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-e", "trace=fsync,fdatasync,/^link,/^rename", "-o",
		trace, os.Args[0], "-test.run=^"+test+"$")
	coverage := t.TempDir() // for what a process with -cover writes, which doesn't count
	if testing.CoverMode() != "" {
		cmd.Args = append(cmd.Args, "-test.gocoverdir="+coverage)
	}
	cmd.Env = Environ(env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range syncCall.FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(call[1]+call[2], coverage) {
			continue
		}
		if call[1] != "" {
			calls = append(calls, "sync "+tempNumber.ReplaceAllString(call[1], ".N"))
		} else {
			calls = append(calls, "name "+call[2])
		}
	}
	return slices.Compact(calls)
}
