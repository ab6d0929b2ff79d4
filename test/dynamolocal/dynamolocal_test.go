package dynamolocal

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Libraries whose download was cut short are noticed. Java would only say that a class
// is missing.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	if damaged(dir) == nil {
		t.Error("no libraries are accepted")
	}
	jar := filepath.Join(dir, "a.jar")
	file, err := os.Create(jar)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	_, err = archive.Create("A.class")
	if err := errors.Join(err, archive.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	if err := damaged(dir); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(jar)
	if err := errors.Join(err, os.Truncate(jar, info.Size()-1)); err != nil {
		t.Fatal(err)
	}
	if damaged(dir) == nil {
		t.Error("a library that was cut short is accepted")
	}
}
