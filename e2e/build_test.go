package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
)

// binaries is the folder that the program is built in.
var binaries string

func TestMain(m *testing.M) {
	// The developer's own settings are not the program's.
	for _, name := range []string{"TOKEN_ISSUER", "TOKEN_AUDIENCE", "TOKEN_JWKS_URL", "TOKEN_JWKS", "REQUIRE_SCOPES", "LOG_LEVEL"} {
		os.Unsetenv(name)
	}
	dir, err := os.MkdirTemp("", "plantstore-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build builds the program, once.
var build = sync.OnceValues(func() (binary string, err error) {
	// The go command repeats a result that it knows, unless a file or folder
	// has changed that the tests opened; of what they build it knows nothing.
	for _, dir := range []string{"../api", "../cmd/local", "../internal"} {
		if err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(binaries, "local")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	args := []string{"build", "-o", binary}
	if raceDetector() {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "example.com/plantstore/cmd/local")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the program could not be built: %w\n%s", err, out)
	}
	return binary, nil
})

// raceDetector reports whether the tests look for races; then the program does
// so, too.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
