package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// What is measured is right answers: of both programs, by either way, to each
// operation.
func TestMeasure(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program needs Linux")
	}
	dir := t.TempDir()
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := lambdalocal.Build("test/coldstart/reference")
	if err != nil {
		t.Fatal(err)
	}
	o := options{rounds: 3, warm: 3, share: 100, readings: 3, with: []string{"more=,GOGC=50"}}
	for _, table := range tables {
		t.Run(table.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := table.measure(t.Context(), o, dir, service, reference, &out); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "Not measured: ") && table.limited {
				tools.Missing(t, fmt.Errorf("no share of a processor for the benchmark: run as root where cgroups can be written: %s",
					strings.Join(strings.Fields(out.String()), " ")))
			}
			wantTable(t, out.String())
		})
	}
}

// wantTable checks that each row has a positive value of each candidate.
func wantTable(t *testing.T, report string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(report), "\n")
	if len(lines) < 12 || !strings.Contains(lines[2], "| reference | reference, our settings | service, another issuer | service | more |") {
		t.Fatalf("no table:\n%s", report)
	}
	for _, row := range lines[4:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 6 {
			t.Errorf("%d cells: %s", len(cells), row)
		}
		for _, cell := range cells[1:] {
			if strings.HasPrefix(cell, "0.00 (") || strings.HasPrefix(cell, "0.00 m") || strings.Contains(cell, "NaN") {
				t.Errorf("nothing was measured: %s", row)
			}
		}
	}
}

// A wrong answer stops everything, and says whose it was and what it was.
func TestWrongAnswer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program needs Linux")
	}
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEndpoint(false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	c := candidate{name: "the service", binary: service, env: environ(e)}
	calls := newCalls("no token")
	if _, err := run(t.Context(), c, plan{calls: calls}); err == nil || !strings.Contains(err.Error(), "the service: status 401") {
		t.Errorf("without a token: %v", err)
	}
	c.env = append(c.env, "LOG_LEVEL=loud")
	if _, err := run(t.Context(), c, plan{calls: calls}); err == nil || !strings.Contains(err.Error(), "LOG_LEVEL") {
		t.Errorf("with an init that fails: %v", err)
	}
}

func TestOptions(t *testing.T) {
	sound := options{rounds: 1, warm: 1, share: 7, readings: 1, only: "tls"}
	if err := sound.check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*options){
		"-only":     func(o *options) { o.only = "https" },
		"-rounds":   func(o *options) { o.rounds = 0 },
		"-warm":     func(o *options) { o.warm = 0 },
		"-readings": func(o *options) { o.readings = 0 },
		"-share is": func(o *options) { o.share = 4 },
	} {
		o := sound
		spoil(&o)
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := newCandidates("s", "r", new(endpoint), roots{}, []string{"nothing"}); err == nil || !strings.Contains(err.Error(), "-with") {
		t.Errorf("-with: %v", err)
	}
}

func TestQuantile(t *testing.T) {
	values := []time.Duration{9, 1, 5, 3, 7}
	for q, want := range map[float64]float64{0: 1, 0.5: 5, 0.99: 9, 1: 9} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := quantile([]int64{4}, 0.99); got != 4 {
		t.Errorf("of one value it is %v", got)
	}
}

// The figures of a report are those of the samples.
func TestReport(t *testing.T) {
	slow := sample{init: 10e6, first: 30e6, initCPU: 8e6, firstCPU: 20e6, warm: []time.Duration{2e6, 4e6}, warmCPU: 6e6, memory: 20e6}
	fast := sample{init: 15e6, first: 5e6, initCPU: 12e6, firstCPU: 2e6, warm: []time.Duration{1e6, 1e6}, warmCPU: 1e6, memory: 10e6}
	var out strings.Builder
	writeReport(&out, "Title", []candidate{{name: "a", zip: 4e6}, {name: "b", zip: 3e6}}, [][]sample{{slow}, {fast}})
	for _, want := range []string{
		"### Title\n\n| | a | b |\n|---|--:|--:|\n",
		"| init | 10.00 ms | 1.50 (15.00 ms) |",
		"| first call | 30.00 ms | 0.17 (5.00 ms) |",
		"| cold start: init and first call | 40.00 ms | 0.50 (20.00 ms) |",
		"| CPU of the cold start | 28.00 ms | 0.50 (14.00 ms) |",
		"| warm call, p99 | 4.00 ms | 0.25 (1.00 ms) |",
		"| CPU per warm call | 3.00 ms | 0.17 (0.50 ms) |",
		"| peak memory | 20.0 MB | 0.50 (10.0 MB) |",
		"| zip | 4.0 MB | 0.75 (3.0 MB) |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
}

// The function's peak memory and time are this process's own, by other means.
func TestResources(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program needs Linux")
	}
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
	const nobody = 1 << 30
	if _, err := cpuTime(nobody); err == nil {
		t.Error("the processor time of no process")
	}
	if _, err := peakMemory(nobody); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the memory of no process: %v", err)
	}
}

func TestZipSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bootstrap")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if size, err := zipSize(file); err != nil || size < 1<<8 || size > 1<<16 {
		t.Errorf("1 MB of x has %d bytes as a zip, %v", size, err)
	}
}
