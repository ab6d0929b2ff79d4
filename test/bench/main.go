// Command bench compares the start and the calls of the deployed function with those of
// a minimal one (see reference) with the same environment, and that with the one that it
// has without the template. It prints a table of the medians. The programs run in turns,
// so that background load affects all. It needs Linux.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 30, "`number` of runs of each program, at least 1")
	flag.Parse()
	table, err := run(context.Background(), *rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	fmt.Print(table)
}

// run measures the programs and returns the table.
func run(ctx context.Context, rounds int) (table string, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir) // for the programs, too
	e := newEndpoint()
	defer e.dynamoDB.Close()
	defer e.issuer.Close()
	candidates, err := build(e, dir)
	if err != nil {
		return "", err
	}
	for round := range rounds {
		for i := range candidates {
			c := candidates[(i+round)%len(candidates)] // so that each runs first in turn
			if err := c.measure(ctx, round); err != nil {
				return "", fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return format(candidates, rounds), nil
}

// format returns a table in Markdown with the median of each row for each candidate, and
// its ratio to the first candidate's in bold.
func format(candidates []candidate, rounds int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Medians of %d runs on %s, Go %s, %s:\n\n|", rounds, time.Now().UTC().Format(time.DateOnly),
		strings.TrimPrefix(runtime.Version(), "go"), machine())
	for _, c := range candidates {
		fmt.Fprintf(&s, " | %s", c.name)
	}
	fmt.Fprintf(&s, " |\n|---%s|\n", strings.Repeat("|--:", len(candidates)))
	for _, row := range rows {
		reference := median(candidates[0].results[row])
		fmt.Fprintf(&s, "| %s | %.2f ms |", row, reference)
		for _, c := range candidates[1:] {
			m := median(c.results[row])
			fmt.Fprintf(&s, " **%.2f** (%.2f ms) |", m/reference, m)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// median returns the upper one of two medians.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
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
