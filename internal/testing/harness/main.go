package harness

import (
	"errors"
	"flag"
	"fmt"
	"os"
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

// maxTempDir is the length of os.TempDir that leaves room for the name of the folder and
// for what Chromium adds to the path of its socket, which may have 103 bytes on macOS.
const maxTempDir = 103 - len("/go-test-1234567890") - len("/org.chromium.Chromium.123456/SingletonSocket")

// tempDir makes a folder for the temporary files of this process and of its programs.
func tempDir() (dir string, err error) {
	if runtime.GOOS != "windows" && len(os.TempDir()) > maxTempDir {
		dir, err = os.MkdirTemp("/tmp", "go-test-")
	}
	if dir == "" {
		dir, err = os.MkdirTemp("", "go-test-")
	}
	if err != nil {
		return "", err
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // the last two are those of Windows
		err = errors.Join(err, os.Setenv(name, dir))
	}
	return dir, err
}
