package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/plantstore/test/lambdalocal"
)

// A sample is the result of one run of a candidate.
type sample struct {
	init, first       time.Duration
	initCPU, firstCPU time.Duration
	warm              []time.Duration
	warmCPU           time.Duration // of all warm calls together
	memory            int64         // in bytes
}

// A plan describes a run.
type plan struct {
	calls []call // made in turns
	first int    // index of the cold call, modulo len(calls)
	warm  int    // number of calls after it
	quota *quota // limits the processor after init, unless nil
}

// run starts a candidate, makes the calls and ends it.
func (p plan) run(ctx context.Context, c candidate) (sample, error) {
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: c.binary, Env: c.env, Timeout: 30 * time.Second})
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
	if s.initCPU, err = cpuTime(e.PID()); err != nil {
		return s, err
	}
	if p.quota != nil {
		if err := p.quota.add(e.PID()); err != nil {
			return s, err
		}
	}
	if s.first, err = p.calls[p.first%len(p.calls)].make(ctx, e); err != nil {
		return s, err
	}
	afterFirst, err := cpuTime(e.PID())
	if err != nil {
		return s, err
	}
	for i := range p.warm {
		took, err := p.calls[(p.first+1+i)%len(p.calls)].make(ctx, e)
		if err != nil {
			return s, err
		}
		s.warm = append(s.warm, took)
	}
	afterWarm, err := cpuTime(e.PID())
	if err != nil {
		return s, err
	}
	s.firstCPU, s.warmCPU = afterFirst-s.initCPU, afterWarm-afterFirst
	s.memory, err = peakMemory(e.PID())
	return s, err
}

// A call is a request and the expected status of the response.
type call struct {
	method, path, body string
	token              string
	status             int
}

// newCalls returns a call of each operation.
func newCalls(token string) []call {
	return []call{
		{"GET", "/plants", "", token, 200},
		{"POST", "/plants", `{"id":7,"name":"Monstera","tag":"living room"}`, token, 200},
		{"DELETE", "/plants/7", "", token, 204},
	}
}

// make sends the call through an HTTP API to e, and returns the duration that
// Lambda would report. A wrong response is an error, since it may be a fast one.
// make waits until the function is ready for the next invocation.
func (c call) make(ctx context.Context, e *lambdalocal.Environment) (time.Duration, error) {
	r := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Authorization", "Bearer "+c.token)
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
