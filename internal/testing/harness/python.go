package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Python returns the interpreter of a virtual environment with the packages that
// requirements, a file of pip, lists. It is in the folder of the cache that starts
// with name; see [Dir].
func Python(name string, requirements []byte) (interpreter string, err error) {
	version, err := Run("python3", "-c", "import sys, venv; print(sys.version, sys.executable)")
	if err != nil {
		return "", err
	}
	interpreter = "bin/python"
	if runtime.GOOS == "windows" {
		interpreter = "Scripts/python.exe"
	}
	dir, err := Dir(name, fmt.Append(nil, version, string(requirements)), func(dir string) error {
		file := filepath.Join(dir, "requirements.txt")
		if _, err := Run("python3", "-m", "venv", dir); err != nil {
			return err
		}
		if err := os.WriteFile(file, requirements, 0o600); err != nil {
			return err
		}
		// The first options are for users whose pip installs elsewhere. Their index and proxy remain.
		_, err := Run(filepath.Join(dir, interpreter), "-m", "pip", "install", "--no-user", "--target=", "--prefix="+dir,
			"--quiet", "--no-input", "--disable-pip-version-check", "--requirement", file)
		return err
	})
	return filepath.Join(dir, interpreter), err
}
