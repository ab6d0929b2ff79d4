package lambdalocal

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/plantstore/test/tools"
)

// Package builds a function of template.yaml as sam build does by default: by the
// Makefile, for arm64. It returns options that run the program, with QEMU's user
// mode emulation on machines with another processor. Without that, or without
// make, the test is skipped; see [tools.Missing].
func Package(tb testing.TB, function string) Options {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("needs Linux")
	}
	tools.Need(tb, "make")
	var emulator string
	if runtime.GOARCH != "arm64" {
		emulator = "qemu-aarch64"
		tools.Need(tb, emulator)
	}
	root, err := tools.Root()
	if err != nil {
		tb.Fatal(err)
	}
	if err := tools.DependOn("api", "cmd", "internal"); err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if out, err := exec.CommandContext(tb.Context(), "make", "-C", root, "build-"+function, "ARTIFACTS_DIR="+dir).CombinedOutput(); err != nil {
		tb.Fatalf("make build-%s: %v\n%s", function, err, out)
	}
	return Options{Binary: filepath.Join(dir, "bootstrap"), Emulator: emulator}
}
