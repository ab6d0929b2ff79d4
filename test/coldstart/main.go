// Command coldstart measures the service's start and calls on Lambda, compared
// with a reference that does as little as possible (see package
// test/coldstart/reference). It builds both as they are deployed, for this
// machine, and runs them in turns, round after round, so that background load
// affects all equally.
//
// It prints two tables with charts: one with a whole processor, and one with the
// share of a processor that a function of 128 MB gets after its init phase. All
// values are medians of all rounds. Each round begins with another operation as
// the first call.
//
// The figures include neither a network nor what Lambda does before it starts
// the program. Coldstart needs Linux, and for the second table root and a
// writable /sys/fs/cgroup.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"example.com/plantstore/test/lambdalocal"
)

func main() {
	rounds := flag.Int("rounds", 30, "`number` of runs of each program for each table, at least 1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *rounds, 300, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// run builds and measures the programs, with the given number of warm calls in
// each round of the first table, and writes the tables to w.
func run(ctx context.Context, rounds, warm int, w io.Writer) error {
	reference, err := lambdalocal.Build("test/coldstart/reference")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "coldstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := newEndpoint()
	defer e.close()
	candidates, err := newCandidates(reference, e, dir)
	if err != nil {
		return err
	}
	p := plan{token: e.token, warm: warm}
	if err := p.compare(ctx, "A whole processor", candidates, rounds, w); err != nil {
		return err
	}
	title := fmt.Sprintf("%d %% of a processor after init", share)
	q, err := newQuota()
	if err != nil {
		fmt.Fprintf(w, "### %s\n\nNot measured: %v\n", title, err)
		return nil
	}
	defer q.remove()
	return plan{token: e.token, quota: q}.compare(ctx, title, candidates, rounds, w)
}
