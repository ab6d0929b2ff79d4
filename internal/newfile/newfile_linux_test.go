package newfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The complete file is on disk before it gets its name, and the name is on disk when Ensure
// returns, even if an earlier process created the file. The test must fail if a sync is
// missing or comes too early.
func TestSyncs(t *testing.T) {
	const variable = "NEWFILE_TEST_SYNCS" // set in the process that is watched
	if path := os.Getenv(variable); path != "" {
		for range 2 {
			if err := create(path, "whole", nothing); err != nil {
				t.Error(err)
			}
		}
		return
	}
	path := filepath.Join(t.TempDir(), "file")
	var names []string
	for dir := path; dir != "/"; {
		dir = filepath.Dir(dir)
		names = append(names, "sync "+dir)
	}
	want := slices.Concat([]string{"sync " + path + ".N", "name " + path}, names, names) // first a temporary name
	if got := harness.Syncs(t, "TestSyncs", variable+"="+path); !slices.Equal(got, want) {
		t.Errorf("two calls of Ensure make the calls\n%q, want\n%q", got, want)
	}
}
