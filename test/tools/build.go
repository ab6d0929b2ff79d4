package tools

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Build builds a program of this module, named by its folder ("cmd/local"), with
// the given flags of go build, and with the race detector if the caller has it.
// A program is built once per process. [Main] removes what was built.
func Build(program string, flags ...string) (binary string, err error) {
	builds.Lock()
	defer builds.Unlock()
	key := strings.Join(append(flags, program), " ")
	if binary, ok := builds.done[key]; ok {
		return binary, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	// The go command repeats a cached test result unless a file has changed
	// that the test opened. It doesn't know what the test builds.
	for _, dir := range []string{"api", program, "internal"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return "", err
	}
	builds.dirs = append(builds.dirs, dir)
	binary = filepath.Join(dir, filepath.Base(program)+".exe") // the ending is for Windows
	args := append([]string{"build", "-o", binary}, flags...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		cmd = exec.Command("go", append(args, "-race")...) // which needs cgo
	}
	cmd.Args = append(cmd.Args, "example.com/plantstore/"+program)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s could not be built: %w\n%s", program, err, out)
	}
	builds.done[key] = binary
	return binary, nil
}

var builds = struct {
	sync.Mutex
	done map[string]string // by flags and program
	dirs []string
}{done: map[string]string{}}

// RemoveBuilt removes the programs that [Build] made.
func RemoveBuilt() {
	builds.Lock()
	defer builds.Unlock()
	for _, dir := range builds.dirs {
		os.RemoveAll(dir)
	}
	builds.done, builds.dirs = map[string]string{}, nil
}

// Main runs the tests of a package that calls [Build]. It is for TestMain.
func Main(m *testing.M) {
	code := m.Run()
	RemoveBuilt()
	os.Exit(code)
}
