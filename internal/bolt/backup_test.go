package bolt

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"example.com/plantstore/internal/records"
)

// openIn opens the store of plants in a new directory with the given name.
func openIn(t *testing.T, parent, name string) (s *plantRecords, dir string) {
	t.Helper()
	dir = filepath.Join(parent, name)
	noErr(t, os.Mkdir(dir, 0o700))
	return openTest(t, filepath.Join(dir, "plants.db")), dir
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noErr(t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has the files %q, want %q", dir, got, want)
	}
}

// A backup replaces the one before, and what a killed process left of one. It leaves all
// other files alone. The directories are also patterns of [filepath.Glob]: the first
// matches "ab", the second is malformed.
func TestBackup(t *testing.T) {
	for _, name := range []string{"a[b]", "a[b"} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			s, dir := openIn(t, parent, name)
			neighbor := filepath.Join(parent, "ab")
			noErr(t, os.Mkdir(neighbor, 0o700))
			backup, partial, others := "plants.db.backup", "plants.db.backup.new", "plants.db.backup.new.mine"
			for _, other := range []string{filepath.Join(neighbor, partial), filepath.Join(dir, others)} {
				noErr(t, os.WriteFile(other, nil, 0o600))
			}
			for want := range 3 {
				noErr(t, os.WriteFile(filepath.Join(dir, partial), []byte("a part"), 0o600))
				noErr(t, s.file.Backup(filepath.Join(dir, backup)))
				wantFiles(t, dir, "plants.db", backup, others)
				restored := newPath(t)
				noErr(t, os.WriteFile(restored, readFile(t, filepath.Join(dir, backup)), 0o600))
				page, err := openTest(t, restored).List(t.Context(), "alice", records.Query{Limit: 10})
				if err != nil || len(page.Records) != want {
					t.Errorf("the backup has %d plants, %v, want %d", len(page.Records), err, want)
				}
				load(t, s, "alice", int64(want), 1)
			}
			wantFiles(t, neighbor, partial)
		})
	}
}

// A backup that fails leaves no part of itself.
func TestBackupFails(t *testing.T) {
	s, dir := openIn(t, t.TempDir(), "data")
	path := filepath.Join(dir, "plants.db.backup")
	noErr(t, os.MkdirAll(filepath.Join(path, "full"), 0o700)) // can't be replaced
	if err := s.file.Backup(path); err == nil {
		t.Error("no error")
	}
	wantFiles(t, dir, "plants.db", "plants.db.backup")
}

// Concurrent backups to the same path all succeed, and the last one is complete.
func TestBackupsAtOnce(t *testing.T) {
	s, dir := openIn(t, t.TempDir(), "data")
	load(t, s, "alice", 0, 1000) // long enough for them to overlap
	path := filepath.Join(dir, "plants.db.backup")
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if err := s.file.Backup(path); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	noErr(t, openClose(path))
	wantFiles(t, dir, "plants.db", "plants.db.backup")
}
