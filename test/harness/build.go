package harness

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
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
	if err := DependOn("api", program, "internal"); err != nil {
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

// Main is the TestMain of packages whose tests start programs. They wait for these
// most of the time, so more of them run at once than there are processors.
func Main(m *testing.M) {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		parallel.Value.Set("4")
	}
	code := m.Run()
	running.Range(func(p, _ any) bool {
		p.(*Process).Stop()
		return true
	})
	os.Exit(code)
}
