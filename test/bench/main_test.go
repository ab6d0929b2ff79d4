package main

import (
	"bytes"
	"regexp"
	"runtime"
	"testing"

	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// Each row has values above zero. A wrong response ends the benchmark.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	var out bytes.Buffer
	if err := run(t.Context(), 1, 3, &out); err != nil {
		t.Fatal(err)
	}
	if rows := regexp.MustCompile(`(?m)^\| [^|]+ \| \d*[1-9].* \| \*\*\d*\.\d\d\*\* `).FindAllString(out.String(), -1); len(rows) < 6 {
		t.Errorf("%d rows, want at least 6:\n%s", len(rows), &out)
	}
}
