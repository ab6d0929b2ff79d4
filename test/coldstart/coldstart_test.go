package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/test/bench/report"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
}

// Each table has a value above zero in each cell, and a chart.
func TestRun(t *testing.T) {
	needLinux(t)
	var out bytes.Buffer
	if err := run(t.Context(), 3, 3, &out); err != nil {
		t.Fatal(err)
	}
	if _, why, ok := strings.Cut(out.String(), "Not measured: "); ok {
		tools.Missing(t, fmt.Errorf("the benchmark's second table: %s", strings.Join(strings.Fields(why), " ")))
	}
	tables := strings.Split(out.String(), "### ")[1:]
	if len(tables) != 2 || strings.Count(tables[0], "| warm call |") != 1 || strings.Count(out.String(), "```mermaid") != 2 {
		t.Errorf("not two tables with charts:\n%s", &out)
	}
	for _, table := range tables {
		if !strings.Contains(table, "| | reference | reference, tuned | service, other issuer | service |\n|---|") {
			t.Errorf("unexpected columns:\n%s", table)
		}
		for row := range strings.Lines(table) {
			if strings.HasPrefix(row, "| ") && strings.Count(row, "|") != 6 || strings.Contains(row, " 0.00 m") || strings.Contains(row, "(0.00 m") {
				t.Errorf("a value is missing or zero: %s", row)
			}
		}
	}
}

// An unexpected response ends the benchmark. The error names the program and
// includes its output.
func TestUnexpectedResponse(t *testing.T) {
	needLinux(t)
	e := newEndpoint()
	defer e.close()
	all, err := newCandidates("", e, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := all[len(all)-1]
	p := plan{token: "invalid"}
	if _, err := p.run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "service: GET /plants: status 401") {
		t.Errorf("without a token: %v", err)
	}
	c.env = append(c.env, "LOG_LEVEL=loud")
	if _, err := p.run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "LOG_LEVEL") {
		t.Errorf("with a failing init: %v", err)
	}
}

func TestTable(t *testing.T) {
	slow := sample{init: 10e6, first: 30e6, coldCPU: 28e6, warm: 4e6, warmCPU: 3e6, memory: 20e6}
	fast := sample{init: 15e6, first: 5e6, coldCPU: 14e6, warm: 1e6, warmCPU: 500e3, memory: 10e6}
	newTable := func() report.Table {
		return newTable("Title", []candidate{{name: "a"}, {name: "b"}}, [][]sample{{slow, {}, slow}, {fast}})
	}
	var out strings.Builder
	newTable().Write(&out)
	const want = "### Title\n\n| | a | b |\n|---|--:|--:|\n" +
		"| init | 10.00 ms | **1.50** (15.00 ms) |\n" +
		"| first call | 30.00 ms | **0.17** (5.00 ms) |\n" +
		"| cold start: init and first call | 40.00 ms | **0.50** (20.00 ms) |\n" +
		"| CPU of the cold start | 28.00 ms | **0.50** (14.00 ms) |\n" +
		"| warm call | 4.00 ms | **0.25** (1.00 ms) |\n" +
		"| CPU per warm call | 3.00 ms | **0.17** (0.50 ms) |\n" +
		"| peak memory | 20.0 MB | **0.50** (10.0 MB) |\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	slow.warm, slow.warmCPU, fast.warm, fast.warmCPU = 0, 0, 0, 0
	if n := len(newTable().Rows); n != len(metrics)-2 {
		t.Errorf("%d rows without warm calls, want %d", n, len(metrics)-2)
	}
}

// The processor time and memory of this process are measured like a function's.
func TestResources(t *testing.T) {
	needLinux(t)
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	buffer := bytes.Repeat([]byte("x"), 64<<20)
	after, err := cpuTime(os.Getpid())
	if err != nil || after <= before {
		t.Errorf("processor time %v after %v, %v", after, before, err)
	}
	if got, err := peakMemory(os.Getpid()); err != nil || got < int64(len(buffer)) {
		t.Errorf("peak memory %d, %v", got, err)
	}
}
