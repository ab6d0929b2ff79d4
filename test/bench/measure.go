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

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/lambdalocal"
)

// A candidate is one of the programs that are compared.
type candidate struct {
	name, binary string
	token        string               // that the calls send
	results      map[string][]float64 // in milliseconds, by column of the table
	env          []string
}

const (
	initPhase = "init"
	firstCall = "first call"
	coldStart = "cold start: both"
	warmCall  = "warm call"
)

var columns = []string{initPhase, firstCall, coldStart, warmCall}

// add adds a duration to the results of a column.
func (c candidate) add(column string, d time.Duration) {
	c.results[column] = append(c.results[column], float64(d)/1e6)
}

// warmCalls is the number of warm calls of a process.
const warmCalls = 100

// measure starts a new copy of the program in dir and calls it. It needs a copy since
// where Linux happens to place a file in memory changes a cold start by up to a fifth.
func (c candidate) measure(ctx context.Context, dir string, round int) error {
	binary, err := os.ReadFile(c.binary)
	if err != nil {
		return err
	}
	bootstrap := filepath.Join(dir, "bootstrap-"+rand.Text())
	if err := os.WriteFile(bootstrap, binary, 0o700); err != nil {
		return err
	}
	defer os.Remove(bootstrap)

	start := time.Now()
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: c.env})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.WaitReady(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, e.Stderr.String())
	}
	init := time.Since(start)
	first, err := call(ctx, e, c.token, round)
	if err != nil {
		return err
	}
	c.add(initPhase, init)
	c.add(firstCall, first)
	c.add(coldStart, init+first)
	for i := range warmCalls {
		warm, err := call(ctx, e, c.token, round+1+i)
		if err != nil {
			return err
		}
		c.add(warmCall, warm)
	}
	return nil
}

// calls are made in turns. Each round begins with another one.
var calls = []struct {
	method, path, body string
	status             int
}{
	{"GET", "/plants", "", 200},
	{"POST", "/plants", plantstest.CreateJSON(plantstest.Example(7)), 200},
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
		return 0, fmt.Errorf("%s %s: status %d, want %d: %s\n%s", c.method, c.path, w.Code, c.status, w.Body,
			e.Stdout.String())
	}
	return took, e.WaitReady(ctx)
}
