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
// Each program is built once per process; [Main] removes the binaries.
func Build(program string, flags ...string) (binary string, err error) {
	builds.Lock()
	defer builds.Unlock()
	key := strings.Join(append(flags, program), " ")
	if binary, ok := builds.done[key]; ok {
		return binary, nil
	}
	if err := DependOn("api", program, "internal"); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return "", err
	}
	builds.dirs = append(builds.dirs, dir)
	binary = filepath.Join(dir, filepath.Base(program)+".exe") // the suffix is for Windows
	args := append([]string{"build", "-o", binary}, flags...)
	env := append(os.Environ(), "CGO_ENABLED=0")
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args, env = append(args, "-race"), nil // -race needs cgo
	}
	cmd := exec.Command("go", append(args, "example.com/plantstore/"+program)...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", program, err, out)
	}
	builds.done[key] = binary
	return binary, nil
}

// DependOn opens all folders below those named. The go command caches test
// results until a file that the test opened changes, and it can't see what the
// test builds.
func DependOn(folders ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// Root returns the top folder of the repository.
func Root() (string, error) {
	mod, err := Run("go", "env", "GOMOD")
	return filepath.Dir(mod), err
}

var builds = struct {
	sync.Mutex
	done map[string]string // binaries by flags and program
	dirs []string
}{done: map[string]string{}}

// RemoveBuilt removes the programs that [Build] built.
func RemoveBuilt() {
	builds.Lock()
	defer builds.Unlock()
	for _, dir := range builds.dirs {
		os.RemoveAll(dir)
	}
	builds.done, builds.dirs = map[string]string{}, nil
}

// Main is the TestMain of packages that call [Build].
func Main(m *testing.M) {
	code := m.Run()
	RemoveBuilt()
	os.Exit(code)
}
