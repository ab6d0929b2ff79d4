package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/lambdalocal"
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
	if err := run(t.Context(), options{rounds: 3, warm: 3, with: []string{"more=,GOGC=50"}}, &out); err != nil {
		t.Fatal(err)
	}
	if _, why, ok := strings.Cut(out.String(), "Not measured: "); ok {
		tools.Missing(t, fmt.Errorf("the benchmark's second table: %s", strings.Join(strings.Fields(why), " ")))
	}
	tables := strings.Split(out.String(), "### ")[1:]
	if len(tables) != 2 || strings.Count(tables[0], "warm call, p50") != 2 || strings.Count(out.String(), "```mermaid") != 2 {
		t.Errorf("not two tables with charts:\n%s", &out)
	}
	for _, table := range tables {
		if !strings.Contains(table, "| | reference | reference, tuned | service, other issuer | more | service |\n|---|") {
			t.Errorf("unexpected columns:\n%s", table)
		}
		for row := range strings.Lines(table) {
			if strings.HasPrefix(row, "| ") && strings.Count(row, "|") != 7 || strings.Contains(row, " 0.00 m") || strings.Contains(row, "(0.00 m") || strings.Contains(row, "NaN") {
				t.Errorf("a value is missing or zero: %s", row)
			}
		}
	}
}

// An unexpected response ends the benchmark. The error names the program and
// includes its output.
func TestUnexpectedResponse(t *testing.T) {
	needLinux(t)
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	e := newEndpoint()
	defer e.close()
	all, err := newCandidates(service, service, e, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := all[len(all)-1]
	p := plan{calls: newCalls("no token")}
	if _, err := p.run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "service: GET /plants: status 401") {
		t.Errorf("without a token: %v", err)
	}
	c.env = append(c.env, "LOG_LEVEL=loud")
	if _, err := p.run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "LOG_LEVEL") {
		t.Errorf("with a failing init: %v", err)
	}
}

func TestMalformedWith(t *testing.T) {
	e := newEndpoint()
	defer e.close()
	if _, err := newCandidates("s", "r", e, t.TempDir(), []string{"nothing"}); err == nil || !strings.Contains(err.Error(), "-with") {
		t.Errorf("error %v", err)
	}
}

func TestTable(t *testing.T) {
	slow := sample{init: 10e6, first: 30e6, initCPU: 8e6, firstCPU: 20e6, warm: []time.Duration{2e6, 4e6}, warmCPU: 6e6, memory: 20e6}
	fast := sample{init: 15e6, first: 5e6, initCPU: 12e6, firstCPU: 2e6, warm: []time.Duration{1e6, 1e6}, warmCPU: 1e6, memory: 10e6}
	var out strings.Builder
	newTable("Title", []candidate{{name: "a"}, {name: "b"}}, [][]sample{{slow}, {fast}}).Write(&out)
	for _, want := range []string{
		"### Title\n\n| | a | b |\n",
		"| init | 10.00 ms | **1.50** (15.00 ms) |",
		"| first call | 30.00 ms | **0.17** (5.00 ms) |",
		"| cold start: init and first call | 40.00 ms | **0.50** (20.00 ms) |",
		"| CPU of the cold start | 28.00 ms | **0.50** (14.00 ms) |",
		"| warm call, p99 | 4.00 ms | **0.25** (1.00 ms) |",
		"| CPU per warm call | 3.00 ms | **0.17** (0.50 ms) |",
		"| peak memory | 20.0 MB | **0.50** (10.0 MB) |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	slow.warm = nil
	if t2 := newTable("Title", []candidate{{name: "a"}}, [][]sample{{slow}}); len(t2.Rows) != len(metrics)-3 {
		t.Errorf("%d rows without warm calls, want %d", len(t2.Rows), len(metrics)-3)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{9, 1, 5, 3, 7}
	for q, want := range map[float64]float64{0: 1, 0.5: 5, 0.99: 9, 1: 9} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of no values is %v", got)
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
	const noProcess = 1 << 30
	if _, err := cpuTime(noProcess); err == nil {
		t.Error("no error for the processor time of a process that doesn't exist")
	}
	if _, err := peakMemory(noProcess); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("memory of a process that doesn't exist: %v", err)
	}
}
