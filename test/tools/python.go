package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Python returns the interpreter of a virtual environment with the packages that
// requirements, a file of pip, lists. It is in the folder of the cache that starts
// with name; see [Dir].
func Python(name string, requirements []byte) (interpreter string, err error) {
	python, version, err := findPython()
	if err != nil {
		return "", err
	}
	dir, err := Dir(name, fmt.Append(nil, version, string(requirements)), func(dir string) error {
		if _, err := Run(python, "-m", "venv", dir); err != nil {
			return err
		}
		file := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(file, requirements, 0o600); err != nil {
			return err
		}
		_, err := Run(pythonIn(dir), "-m", "pip", "install",
			"--quiet", "--no-input", "--disable-pip-version-check", "--requirement", file)
		return err
	})
	return pythonIn(dir), err
}

// findPython returns the command that starts Python 3, and its version.
func findPython() (command, version string, err error) {
	for _, command := range []string{"python3", "python"} {
		version, runErr := Run(command, "-c", "import sys, venv; print(sys.version, sys.executable)")
		if runErr == nil {
			return command, version, nil
		}
		err = errors.Join(err, runErr)
	}
	return "", "", err
}

func pythonIn(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}
