package harness

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Main is the TestMain of packages whose tests start programs. The tests wait for
// programs most of the time, so more of them run at once than there are processors. Main
// stops what still runs, and removes the temporary files that programs have left.
func Main(m *testing.M) {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		parallel.Value.Set("4")
	}
	temp, err := tempDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, "no folder for temporary files:", err)
		os.Exit(1)
	}
	code := m.Run()
	running.Range(func(p, _ any) bool {
		p.(*Process).Stop()
		return true
	})
	os.RemoveAll(temp)
	os.Exit(code)
}

// tempDir makes a folder for the temporary files of this process and of its programs.
func tempDir() (string, error) {
	parent := os.Getenv("GOTMPDIR")
	if parent == "" && runtime.GOOS == "darwin" {
		parent = "/tmp" // Chromium's socket is in the folder, and its path may have 103 bytes
	}
	dir, err := os.MkdirTemp(parent, "go-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // strace, for one, prints paths without links
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // the last two are those of Windows
		err = errors.Join(err, os.Setenv(name, dir))
	}
	return dir, err
}
