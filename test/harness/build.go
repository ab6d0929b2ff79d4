package harness

import (
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Build builds a program of this module, named by its folder ("cmd/local"), with
// the given flags of go build, and with the race detector if the caller has it.
// The binary is in the cache of the go command.
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
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		flags = append(flags, "-race")
	}
	args := slices.Concat([]string{"run"}, flags, []string{"-exec", "go version", "example.com/plantstore/" + program})
	// The first run may link the program in a temporary folder; it then adds it to
	// the cache, from where the second one runs it.
	for range 2 {
		if binary, err = Run("go", args...); err != nil {
			return "", err
		}
	}
	built[key] = binary[:strings.LastIndex(binary, ": go")]
	return built[key], nil
}

var (
	building sync.Mutex
	built    = map[string]string{} // binaries by program and flags
)

// DependOn opens all folders, and looks at all files, below those named. The go command
// caches test results until a file that the test opened changes, and it can't see what
// the test's programs open.
func DependOn(names ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(root, name), func(_ string, _ fs.DirEntry, err error) error { return err })
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
