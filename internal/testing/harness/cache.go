package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder is the name of the folder with downloads. It is the same in every copy of the
// project, so that a renamed one has them already.
const folder = "go-test-tools"

// Dir returns a folder of the user's cache, and calls fill to fill it unless
// an earlier call with the same name and recipe, in any process, has succeeded.
// The recipe determines the contents, such as a list of packages.
//
// Fill gets a temporary folder, which is renamed once it is complete, so files in
// it must not contain its path. If two processes fill one, the first is used.
func Dir(name string, recipe []byte, fill func(dir string) error) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, fmt.Sprintf("%s-%.6x", name, sha256.Sum256(recipe)))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	removeAbandoned(cache)
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

// removeAbandoned removes what killed processes have left: temporary folders of Dir that are older
// than any download takes.
func removeAbandoned(cache string) {
	folders, _ := filepath.Glob(filepath.Join(cache, "partial-*"))
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(folder)
		}
	}
}

// cacheDir returns the folder with downloads, in the user's cache or, if that can't be
// written, in the cache of the go command.
func cacheDir() (dir string, err error) {
	user, userErr := os.UserCacheDir()
	if userErr == nil {
		dir = filepath.Join(user, folder)
		userErr = os.MkdirAll(dir, 0o700)
	}
	if userErr == nil {
		return dir, nil
	}
	goCache, err := Run("go", "env", "GOCACHE")
	if err == nil {
		dir = filepath.Join(strings.TrimSpace(goCache), folder)
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", errors.Join(userErr, err)
	}
	return dir, nil
}
