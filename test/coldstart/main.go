// Command coldstart measures the service's start and calls on Lambda, compared
// with a reference that does as little as possible (see package
// test/coldstart/reference). It builds both as they are deployed, for this
// machine, and runs them in turns, round after round, so that background load
// affects all equally.
//
// It prints two tables with charts: one with a whole processor, and one with the
// share of a processor that a function of 128 MB gets after its init phase.
// Durations are medians of all rounds. Each round begins with another operation
// as the first call.
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
	"example.com/plantstore/test/tools"
)

// options are the flags.
type options struct {
	rounds, warm int
	with         []string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 30, "`number` of runs of each program for each table, at least 1")
	flag.IntVar(&o.warm, "warm", 300, "`number` of warm calls in each run")
	flag.Func("with", "also measure `NAME=BINARY,VARIABLE=VALUE,…`; an empty BINARY is the service", func(s string) error {
		o.with = append(o.with, s)
		return nil
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, o, os.Stdout)
	tools.RemoveBuilt()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// run builds and measures the programs, and writes the tables to w.
func run(ctx context.Context, o options, w io.Writer) error {
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		return err
	}
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
	candidates, err := newCandidates(service, reference, e, dir, o.with)
	if err != nil {
		return err
	}
	calls := newCalls(e.token)
	if err := measure(ctx, "A whole processor", candidates, o.rounds, plan{calls: calls, warm: o.warm}, w); err != nil {
		return err
	}
	title := fmt.Sprintf("%d %% of a processor after init", share)
	q, err := newQuota()
	if err != nil {
		fmt.Fprintf(w, "### %s\n\nNot measured: %v\n", title, err)
		return nil
	}
	defer q.remove()
	return measure(ctx, title, candidates, o.rounds, plan{calls: calls, quota: &q}, w)
}

// measure measures all candidates in turns and writes a table to w.
func measure(ctx context.Context, title string, candidates []candidate, rounds int, p plan, w io.Writer) error {
	samples := make([][]sample, len(candidates))
	for round := range rounds {
		p.first = round
		for i := range candidates {
			i = (i + round) % len(candidates) // so that none always runs after the same one
			got, err := p.run(ctx, candidates[i])
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], got)
		}
	}
	newTable(title, candidates, samples).Write(w)
	return nil
}
