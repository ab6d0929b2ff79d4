package main

import (
	"regexp"
	"runtime"
	"testing"

	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The benchmark still runs, and prints a median above zero for each row and program. A
// wrong response ends it.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	if err := harness.DependOn("api", "cmd/lambda", "internal"); err != nil {
		t.Fatal(err)
	}
	table, err := harness.Run("go", "run", ".", "-rounds", "1")
	if err != nil {
		t.Fatal(err)
	}
	if medians := regexp.MustCompile(`\d+\.\d\d ms`).FindAllString(table, -1); len(medians) != 32 {
		t.Errorf("%d medians, want 8 for each of 4 programs:\n%s", len(medians), table)
	}
	if zero := regexp.MustCompile(`\b0\.00 ms`).FindString(table); zero != "" {
		t.Errorf("a median is zero:\n%s", table)
	}
}
