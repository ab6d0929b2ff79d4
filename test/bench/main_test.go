package main

import (
	"regexp"
	"runtime"
	"testing"

	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The benchmark still runs, and each of its rows has values above zero. A wrong
// response ends it.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	if err := harness.DependOn("api", "cmd/lambda", "internal"); err != nil {
		t.Fatal(err)
	}
	out, err := harness.Run("go", "run", ".", "-rounds", "1")
	if rows := regexp.MustCompile(`(?m)^\| [^|]+ \| \d*\.?\d*[1-9].* \| \*\*\d*\.\d\d\*\* `).FindAllString(out, -1); len(rows) != 6 {
		t.Errorf("%v, %d rows, want 6:\n%s", err, len(rows), out)
	}
}
