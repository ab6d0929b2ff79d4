package harness

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Build builds a program of this module, named by its folder ("cmd/local"), with
// the given flags of go build, and with the race detector if the caller has it. The
// program is in a temporary folder, which [Main] removes. A second call returns the
// same program.
func Build(program string, flags ...string) (binary string, err error) {
	building.Lock()
	defer building.Unlock()
	key := program + strings.Join(flags, " ")
	if binary := built[key]; binary != "" {
		return binary, nil
	}
	if err := DependOn("go.mod", "go.sum", "api", program, "internal"); err != nil {
		return "", err
	}
	if info, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		flags = append(flags, "-race")
	}
	dir, err := os.MkdirTemp("", "build-")
	if err != nil {
		return "", err
	}
	if _, err := Run("go", slices.Concat([]string{"build", "-buildvcs=false", "-o", dir}, flags,
		[]string{"example.com/plantstore/" + program})...); err != nil {
		return "", err
	}
	built[key], err = exec.LookPath(filepath.Join(dir, path.Base(program))) // with .exe on Windows
	return built[key], err
}

var (
	building sync.Mutex
	built    = map[string]string{} // binaries by program and flags
)

// DependOn opens all folders, and looks at all files, below those named. The go command
// caches test results until a file that the test opened changes, and it can't see what
// the test's programs open.
func DependOn(names ...string) error {
	top, err := root()
	if err != nil {
		return err
	}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(top, name), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}

// root returns the top folder of the repository.
func root() (string, error) {
	mod, err := Run("go", "env", "GOMOD")
	return filepath.Dir(mod), err
}
