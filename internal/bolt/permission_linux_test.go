package bolt

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// openAsNobody opens and closes the store at path with the rights of a user who
// owns nothing.
func openAsNobody(path string) error {
	openAndClose := func() error {
		s, err := Open(path)
		if err != nil {
			return err
		}
		return s.Close()
	}
	if os.Geteuid() != 0 {
		return openAndClose() // bound by the modes of files already
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with its rights
		if err := syscall.Setfsuid(65534); err != nil {
			result <- err
			return
		}
		result <- openAndClose()
	}()
	return <-result
}

func TestPermissions(t *testing.T) {
	const advice = "let this user read and write the file and its folder"
	chmod := func(name string, mode fs.FileMode) {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	chmod(filepath.Dir(folder), 0o755) // nobody may pass
	path := filepath.Join(folder, "plants.db")
	if err := openTest(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0, 0o200, 0o400, 0o444} {
		chmod(path, mode)
		mustSay(t, openAsNobody(path), path, "permission denied", advice)
	}
	chmod(path, 0o666)
	if err := openAsNobody(path); err != nil {
		t.Error(err)
	}
	chmod(folder, 0o555)
	for _, name := range []string{"new.db", "sub/plants.db"} {
		path := filepath.Join(folder, name)
		mustSay(t, openAsNobody(path), path, "permission denied", advice)
	}
	chmod(folder, 0o700)
}
