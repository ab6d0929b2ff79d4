package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/plot"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The benchmark still runs, and each of its medians is above zero. A wrong response
// ends it.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	if err := harness.DependOn("api", "cmd/lambda", "internal"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "benchmarks.json")
	if _, err := harness.Run("go", "run", ".", "-rounds", "1", "-o", file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b plot.Benchmarks
	if err := json.Unmarshal(data, &b); err != nil || len(b.Rows) != 8 {
		t.Fatalf("%v, %d rows, want 8:\n%s", err, len(b.Rows), data)
	}
	for _, row := range b.Rows {
		for i, median := range row.Medians {
			if median <= 0 {
				t.Errorf("%s, %s: %v ms", row.Name, b.Candidates[i], median)
			}
		}
	}
}
