package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

// A sample is the result of one run of a candidate.
type sample struct {
	init, first, warm time.Duration // warm is the median of the warm calls
	coldCPU           time.Duration // of init and the first call
	warmCPU           time.Duration // of a warm call, on average
	memory            int64         // in bytes
}

// A plan describes a run.
type plan struct {
	token string
	first int   // index of the first call in calls, which are made in turns
	warm  int   // number of calls after it
	quota quota // limits the processor after init, unless empty
}

// compare runs all candidates in turns and writes a table to w.
func (p plan) compare(ctx context.Context, title string, candidates []candidate, rounds int, w io.Writer) error {
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

// run starts a candidate, makes the calls and ends it. It starts a new copy of the
// program: how Linux happens to place a file in memory makes a difference of up to
// a fifth to the CPU time of a cold start, and a copy's place changes with each run.
func (p plan) run(ctx context.Context, c candidate) (sample, error) {
	program, err := os.ReadFile(c.binary)
	if err != nil {
		return sample{}, err
	}
	dir, err := os.MkdirTemp("", "coldstart-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "bootstrap")
	if err := os.WriteFile(binary, program, 0o700); err != nil {
		return sample{}, err
	}
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: binary, Env: c.env, Timeout: tools.Patience})
	if err != nil {
		return sample{}, err
	}
	s, err := p.measure(ctx, e)
	e.Close() // after which the output is complete
	if err != nil {
		return s, fmt.Errorf("%s: %w\n%s%s", c.name, err, e.Stdout(), e.Stderr())
	}
	return s, nil
}

func (p plan) measure(ctx context.Context, e *lambdalocal.Environment) (s sample, err error) {
	if err := e.WaitReady(ctx); err != nil {
		return s, err
	}
	s.init, _ = e.Durations()
	if p.quota != "" {
		if err := p.quota.add(e.PID()); err != nil {
			return s, err
		}
	}
	if s.first, err = p.call(ctx, e, 0); err != nil {
		return s, err
	}
	if s.coldCPU, err = cpuTime(e.PID()); err != nil {
		return s, err
	}
	var warm []time.Duration
	for i := range p.warm {
		took, err := p.call(ctx, e, 1+i)
		if err != nil {
			return s, err
		}
		warm = append(warm, took)
	}
	total, err := cpuTime(e.PID())
	if err != nil {
		return s, err
	}
	if p.warm > 0 {
		s.warm, s.warmCPU = median(warm), (total-s.coldCPU)/time.Duration(p.warm)
	}
	s.memory, err = peakMemory(e.PID())
	return s, err
}

// calls has a request of each operation, with the expected status.
var calls = []struct {
	method, path, body string
	status             int
}{
	{"GET", "/plants", "", 200},
	{"POST", "/plants", `{"id":7,"name":"Monstera","tag":"living room"}`, 200},
	{"DELETE", "/plants/7", "", 204},
}

// call makes the nth call after the first one, through an HTTP API, and returns
// the duration that Lambda would report. A wrong response is an error, since it
// may be a fast one. call waits until the function is ready for the next
// invocation.
func (p plan) call(ctx context.Context, e *lambdalocal.Environment, n int) (time.Duration, error) {
	c := calls[(p.first+n)%len(calls)]
	r := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api := &lambdalocal.HTTPAPI{Invoke: e.Invoke}
	api.ServeHTTP(w, r)
	if w.Code != c.status {
		return 0, fmt.Errorf("%s %s: status %d, want %d: %s %v", c.method, c.path, w.Code, c.status, w.Body, e.Errors())
	}
	_, took := e.Durations()
	return took, e.WaitReady(ctx)
}
