//go:build unix

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/plantstore/test/harness"
)

// A running program writes a backup when asked to, replaces the one before, and another
// program serves the plants in it.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir, restored := t.TempDir(), t.TempDir()
	p := start(t, harness.Environ(), dir)
	u, id := p.user(t), randomID()
	basil, fern := plants.example(id), plants.example(id+1)
	backup := filepath.Join(dir, "plants.db.backup")
	for _, plant := range []element{basil, fern} {
		earlier, _ := os.Stat(backup)
		plants.postAll(t, u, plant)
		p.Cmd.Process.Signal(syscall.SIGUSR1)
		harness.Await(t, func() error {
			now, err := os.Stat(backup)
			if err == nil && os.SameFile(earlier, now) {
				err = errors.New("still the earlier backup")
			}
			return err
		})
	}
	plants.postAll(t, u, newPlant()) // it goes on, and the backup doesn't have this one
	for from, to := range map[string]string{backup: "plants.db", filepath.Join(dir, "token-key.pem"): "token-key.pem"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(restored, to), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := start(t, harness.Environ(), restored)
	plants.expect(t, newClient(again.target(), u.token), basil, fern)
}
