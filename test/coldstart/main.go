// Command coldstart measures how fast the service is on Lambda, beside a
// reference that does the least (see ../reference). Both are the programs that
// are deployed, built for this machine; it offers them a Lambda Runtime API, a
// DynamoDB and a token issuer, and runs them in turn, round after round, so that
// what else the machine does befalls all alike.
//
// It prints a table for each way to reach DynamoDB and the issuer: by plain
// HTTP, by TLS, and by TLS with a share of one processor after init, which is
// what a small function gets: 7 % with 128 MB. Durations are medians over all rounds. The
// first call is another operation each round.
//
// Its answers come at once, so a network's share is not in the figures, nor is
// what Lambda does before it starts the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

type options struct {
	rounds, warm, share, readings int
	only                          string
	with                          []string
}

func main() {
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 30, "`number` of runs of each function in each table")
	flag.IntVar(&o.warm, "warm", 300, "`number` of warm calls in each run")
	flag.IntVar(&o.share, "share", 7, "`percentage` of one processor that the last table leaves after init")
	flag.IntVar(&o.readings, "readings", 1, "`times` that the system's certificates are read: 1, or 3 as where /etc/ssl/certs and /etc/pki/tls/certs are one folder")
	flag.StringVar(&o.only, "only", "", "make one `table`: http, tls or share")
	flag.Func("with", "measure another, `NAME=BINARY,VARIABLE=VALUE,…`; without BINARY it is the service", func(s string) error {
		o.with = append(o.with, s)
		return nil
	})
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

// measure builds the functions, measures them and writes the tables to w.
func measure(ctx context.Context, o options, w io.Writer) error {
	dir, err := os.MkdirTemp("", "coldstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer tools.RemoveBuilt()
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		return err
	}
	reference, err := lambdalocal.Build("test/coldstart/reference")
	if err != nil {
		return err
	}
	for _, t := range tables {
		if o.only != "" && o.only != t.name {
			continue
		}
		if err := t.measure(ctx, o, dir, service, reference, w); err != nil {
			return err
		}
	}
	return nil
}

// check finds options that make no sense.
func (o options) check() error {
	known := slices.ContainsFunc(tables, func(t table) bool { return o.only == "" || o.only == t.name })
	switch {
	case !known:
		return fmt.Errorf("-only %s is neither http, tls nor share", o.only)
	case o.rounds < 1 || o.warm < 1 || o.readings < 1:
		return errors.New("-rounds, -warm and -readings are 1 or more")
	case o.share < 5 || o.share > 100:
		return errors.New("-share is 5 to 100: Linux takes no less")
	}
	return nil
}

// A table is one way to reach DynamoDB and the issuer.
type table struct {
	name, title string
	secure      bool // by TLS
	limited     bool // the processor, after init
}

var tables = []table{
	{"http", "Over plain HTTP", false, false},
	{"tls", "Over TLS", true, false},
	{"share", "Over TLS, with a share of a processor after init", true, true},
}

// measure measures all candidates and writes the table to w. It writes why, if
// the processor can't be limited here.
func (t table) measure(ctx context.Context, o options, dir, service, reference string, w io.Writer) error {
	p := plan{warm: o.warm}
	if t.limited {
		q, err := newQuota(o.share)
		if err != nil {
			fmt.Fprintf(w, "### %s\n\nNot measured: %v\n", t.title, err)
			return nil
		}
		defer q.remove()
		p.quota, p.warm = &q, 0
	}
	e, err := newEndpoint(t.secure)
	if err != nil {
		return err
	}
	defer e.close()
	r, err := newRoots(dir, e.root, o.readings)
	if err != nil {
		return err
	}
	candidates, err := newCandidates(service, reference, e, r, o.with)
	if err != nil {
		return err
	}
	samples, err := measureAll(ctx, candidates, newCalls(e.token), p, o.rounds)
	if err != nil {
		return err
	}
	writeReport(w, t.title, candidates, samples)
	return nil
}

// measureAll runs each candidate once a round, and returns the samples of each.
func measureAll(ctx context.Context, candidates []candidate, calls []call, p plan, rounds int) ([][]sample, error) {
	samples := make([][]sample, len(candidates))
	for round := range rounds {
		first := round % len(calls)
		p.calls = slices.Concat(calls[first:], calls[:first])
		for i := range candidates {
			// Another one begins each round, lest one always follow the same.
			i = (i + round) % len(candidates)
			s, err := run(ctx, candidates[i], p)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], s)
		}
	}
	return samples, nil
}
