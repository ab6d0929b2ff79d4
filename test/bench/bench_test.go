package main

import (
	"slices"
	"strings"
	"testing"
)

// The handler's benchmarks are quick enough for a test.
func TestRun(t *testing.T) {
	c := comparisons[2]
	table, err := c.run("-benchtime", "1x")
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != len(c.rows) {
		t.Errorf("%d rows, want %d", len(table.Rows), len(c.rows))
	}
}

func TestTable(t *testing.T) {
	const out = "goos: linux\nBenchmarkA-4 \t 100\t 2500 ns/op\t 0.5 x/y\nBenchmarkB/c=1-4 \t 7\t 5000 ns/op\nPASS\n"
	c := comparison{unit: µs, rows: []row{{"row", "A ns/op", "B/c=1 ns/op"}}}
	table, err := c.table(out)
	if err != nil || len(table.Rows) != 1 || !slices.Equal(table.Rows[0].Values, []float64{2.5, 5}) {
		t.Errorf("%+v, %v", table, err)
	}
	c.rows[0].second = "B allocs/op"
	if _, err := c.table(out); err == nil || !strings.Contains(err.Error(), `no "B allocs/op"`) {
		t.Errorf("error %v", err)
	}
}
