package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A tree has the files of a folder, by their paths with slashes.
type tree map[string]file

type file struct {
	mode fs.FileMode
	text []byte
}

// read returns the files of a folder, whether or not git tracks them, except links, other
// repositories, and what the folder's .gitignore names.
func read(dir string) (tree, error) {
	ignore, _ := os.ReadFile(filepath.Join(dir, ".gitignore")) // an error occurs again below
	patterns, files := strings.Split(string(ignore), "\n"), tree{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		_, err = os.Lstat(filepath.Join(dir, name, ".git")) // succeeds for another repository
		skip := d.Name() == ".git" || err == nil || ignored(patterns, name, d.IsDir())
		switch {
		case skip && d.IsDir():
			return fs.SkipDir
		case skip || !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		info, err2 := d.Info()
		if err = errors.Join(err, err2); err == nil {
			files[name] = file{info.Mode(), text}
		}
		return err
	})
	return files, err
}

// ignored reports whether the patterns of a .gitignore name a path. The last match counts.
func ignored(patterns []string, name string, isDir bool) (yes bool) {
	for _, pattern := range patterns {
		pattern, negated := strings.CutPrefix(strings.TrimRight(pattern, " \r"), "!")
		pattern, onlyDirs := strings.CutSuffix(pattern, "/")
		subject := name
		if !strings.Contains(pattern, "/") {
			subject = path.Base(name)
		}
		if match, _ := path.Match(strings.TrimPrefix(pattern, "/"), subject); match && (isDir || !onlyDirs) {
			yes = !negated
		}
	}
	return yes
}

// errHalf means that some files have changed, and others haven't.
var errHalf = errors.New("going back failed, too: start again from a fresh copy")

// write replaces the files of a folder. After an error it goes back: all texts are in memory.
func write(dir string, before, after tree) error {
	for name := range after {
		_, known := before[name]
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && !known {
			return fmt.Errorf("%s exists already: remove it, or choose another name", name)
		}
	}
	err := put(dir, after)
	if err == nil {
		err = remove(dir, before, after)
	}
	if err != nil {
		if back := errors.Join(remove(dir, after, before), put(dir, before)); back != nil {
			err = fmt.Errorf("%w\n%w\n%w", err, errHalf, back)
		}
	}
	return err
}

// put writes all files that differ. It goes on after an error, and returns the last one.
func put(dir string, files tree) (last error) {
	for name, f := range files {
		name = filepath.Join(dir, name)
		if text, err := os.ReadFile(name); err == nil && bytes.Equal(text, f.text) {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.text, f.mode),
			os.Chmod(name, f.mode)); err != nil { // the umask may have taken bits from the mode
			last = err
		}
	}
	return last
}

// remove removes the files that are not to stay, and the folders that this empties. It goes on
// after an error, too.
func remove(dir string, files, stay tree) (last error) {
	for name := range files {
		_, stays := stay[name]
		name = filepath.Join(dir, name)
		if _, err := os.Lstat(name); stays || err != nil {
			continue
		}
		if err := os.Remove(name); err != nil {
			last = err
		}
		for name = filepath.Dir(name); name != dir && os.Remove(name) == nil; name = filepath.Dir(name) {
		}
	}
	return last
}
