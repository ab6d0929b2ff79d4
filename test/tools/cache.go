package tools

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// Dir returns a folder of the user's cache, and calls fill to fill it unless
// an earlier call with the same name and recipe, in any process, has succeeded.
// The recipe determines the contents, such as a list of packages.
//
// Processes that need the folder at the same time wait for the one that fills it,
// but no longer than [Patience]. Fill gets a temporary folder, which is renamed
// once it is complete, so files in it must not contain its path.
func Dir(name string, recipe []byte, fill func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "plantstore-test", fmt.Sprintf("%s-%.6x", name, sha256.Sum256(recipe)))
	partial := final + ".partial"
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return "", err
	}
	// Opening a bbolt database locks its file, on every operating system. The
	// lock ends with the process.
	lock, err := bolt.Open(final+".lock", 0o600, &bolt.Options{Timeout: Patience()})
	if err != nil {
		return "", fmt.Errorf("lock %s: %w", final, err)
	}
	defer lock.Close()

	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return final, err
	}
	if err := os.RemoveAll(partial); err != nil { // left by a killed process
		return "", err
	}
	defer os.RemoveAll(partial)
	if err := os.Mkdir(partial, 0o700); err != nil {
		return "", err
	}
	if err := fill(partial); err != nil {
		return "", err
	}
	return final, os.Rename(partial, final)
}
