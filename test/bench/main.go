// Command bench compares the start and the calls of the deployed function with those of
// a minimal one (see reference), with an issuer on AWS, such as Amazon Cognito, and with
// another one. It writes the medians to a file, from which make plots draws. The programs
// run in turns, so that background load affects all. It needs Linux.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/test/plot"
)

func main() {
	rounds := flag.Int("rounds", 30, "`number` of runs of each program, at least 1")
	file := flag.String("o", "docs/benchmarks.json", "write the medians to this `file`")
	flag.Parse()
	if err := run(context.Background(), *rounds, *file); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the programs and writes the file.
func run(ctx context.Context, rounds int, file string) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir) // for the programs, too
	e := newEndpoint()
	defer e.dynamoDB.Close()
	defer e.issuer.Close()
	candidates, err := build(e, dir)
	if err != nil {
		return err
	}
	for round := range rounds {
		for i := range candidates {
			c := candidates[(i+round)%len(candidates)] // so that each runs first in turn
			if err := c.measure(ctx, e.token, round); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	data, err := json.MarshalIndent(medians(candidates, rounds), "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o666)
}

// medians returns the median of each row for each program.
func medians(all []candidate, rounds int) plot.Benchmarks {
	b := plot.Benchmarks{
		Date:    time.Now().UTC().Format(time.DateOnly),
		Go:      strings.TrimPrefix(runtime.Version(), "go"),
		Machine: machine(),
		Rounds:  rounds,
	}
	for _, c := range all {
		b.Candidates = append(b.Candidates, c.name)
	}
	for _, name := range rows {
		row := plot.Row{Name: name}
		for _, c := range all {
			row.Medians = append(row.Medians, median(c.results[name]))
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// median returns the upper one of two medians, to 10 µs.
func median(values []float64) float64 {
	slices.Sort(values)
	return math.Round(values[len(values)/2]*100) / 100
}

// machine names the processor and the system.
func machine() string {
	processor := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(info); name != nil {
		processor = string(name[1])
	}
	return fmt.Sprintf("%d processors (%s), Linux", runtime.NumCPU(), processor)
}
