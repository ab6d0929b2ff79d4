package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/plantstore/test/lambdalocal"
)

// rows are what is measured.
var rows = []string{
	"init", "first call", "cold start: init and first call", "CPU of the cold start", "warm call", "CPU per warm call",
	"cold start with 256 MB", "cold start with 128 MB",
}

// The shares of a processor that functions of 128 and 256 MB get after their init phase:
// one of 1,769 MB gets a whole one.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
const share128, share256 = 128.0 / 1769, 256.0 / 1769

// warmCalls is the number of warm calls in each run with a whole processor.
const warmCalls = 300

// measure measures one process with a whole processor, and one with each share.
func (c candidate) measure(ctx context.Context, round int) error {
	e, init, first, err := c.start(ctx, round, 1)
	if err != nil {
		return err
	}
	defer e.Close()
	cold := cpuTime(e.Cmd.Process.Pid)
	c.add("init", init)
	c.add("first call", first)
	c.add("cold start: init and first call", init+first)
	c.add("CPU of the cold start", cold)
	for i := range warmCalls {
		took, err := call(ctx, e, c.token, round+1+i)
		if err != nil {
			return err
		}
		c.add("warm call", took)
	}
	c.add("CPU per warm call", (cpuTime(e.Cmd.Process.Pid)-cold)/warmCalls)

	for row, share := range map[string]float64{"cold start with 256 MB": share256, "cold start with 128 MB": share128} {
		e, init, first, err := c.start(ctx, round, share)
		if err != nil {
			return err
		}
		e.Close()
		c.add(row, init+first)
	}
	return nil
}

// start starts a new copy of the program and makes its first call with a share of a
// processor. Where Linux happens to place a file in memory makes a difference of up to
// a fifth to a cold start.
func (c candidate) start(ctx context.Context, round int, share float64) (e *lambdalocal.Environment, init, first time.Duration, err error) {
	binary, err := os.ReadFile(c.binary)
	if err != nil {
		return nil, 0, 0, err
	}
	bootstrap := filepath.Join(os.TempDir(), "bootstrap-"+rand.Text())
	if err := os.WriteFile(bootstrap, binary, 0o700); err != nil {
		return nil, 0, 0, err
	}
	defer os.Remove(bootstrap)
	begin := time.Now()
	e, err = lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: c.env})
	if err != nil {
		return nil, 0, 0, err
	}
	if err := e.WaitReady(ctx); err != nil {
		e.Close()
		return nil, 0, 0, fmt.Errorf("%w\n%s", err, e.Stderr.String())
	}
	init = time.Since(begin)
	if share < 1 {
		defer limit(e.Cmd.Process, share)()
	}
	if first, err = call(ctx, e, c.token, round); err != nil {
		e.Close()
	}
	return e, init, first, err
}

// calls are made in turns. Each round begins with another one.
var calls = []struct {
	method, path, body string
	status             int
}{
	{"GET", "/plants", "", 200},
	{"POST", "/plants", `{"id": 7, "name": "Basil", "tag": "herb"}`, 200},
	{"DELETE", "/plants/7", "", 204},
}

// call makes the nth call and returns the duration that Lambda would report. A
// wrong response is an error, since it may be a fast one.
func call(ctx context.Context, e *lambdalocal.Environment, token string, n int) (time.Duration, error) {
	c := calls[n%len(calls)]
	r := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	var took time.Duration
	api := lambdalocal.HTTPAPI(func(ctx context.Context, payload []byte) ([]byte, error) {
		start := time.Now()
		defer func() { took = time.Since(start) }()
		return e.Invoke(ctx, payload)
	})
	api.ServeHTTP(w, r)
	if w.Code != c.status {
		return 0, fmt.Errorf("%s %s: status %d, want %d: %s\n%s", c.method, c.path, w.Code, c.status, w.Body, e.Stdout.String())
	}
	return took, e.WaitReady(ctx)
}
