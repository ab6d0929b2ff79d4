package harness

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// Dir returns a folder of the user's cache, and calls fill to fill it unless
// an earlier call with the same name and recipe, in any process, has succeeded.
// The recipe determines the contents, such as a list of packages.
//
// Fill gets a temporary folder, which is renamed once it is complete, so files in
// it must not contain its path. If two processes fill one, the first is used.
func Dir(name string, recipe []byte, fill func(dir string) error) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	// The name is the same in every copy of the project, so that a renamed one has the downloads already.
	cache := filepath.Join(user, "go-test-tools")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	final := filepath.Join(cache, fmt.Sprintf("%s-%.6x", name, sha256.Sum256(recipe)))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	partial, err := os.MkdirTemp(cache, "partial-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(partial)
	if err := fill(partial); err != nil {
		return "", err
	}
	err = os.Rename(partial, final)
	if _, exists := os.Stat(final); exists == nil {
		return final, nil
	}
	return "", err
}
