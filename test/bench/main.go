// Command bench compares the start and the calls of the deployed function with
// those of a minimal one (see reference), and prints a table for docs/benchmarks.md:
// with an issuer on AWS, such as Amazon Cognito, and with another one. All run in
// turns, so that background load affects all. All values are medians. It needs Linux.
package main

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/openapi"
)

func main() {
	rounds := flag.Int("rounds", 30, "`number` of runs of each program, at least 1")
	flag.Parse()
	if err := run(context.Background(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A candidate is one of those that are compared.
type candidate struct {
	name, binary string
	env          []string
	results      map[string][]float64 // by row of the table
}

// rows are what is measured, in ms.
var rows = []string{"init", "first call", "cold start: init and first call", "CPU of the cold start", "warm call", "CPU per warm call"}

// add adds a duration to the results of a row.
func (c candidate) add(row string, d time.Duration) {
	c.results[row] = append(c.results[row], float64(d)/1e6)
}

// run measures the programs and prints the table.
func run(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir) // where harness.Build puts the programs
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
			if err := c.run(ctx, e.token, round); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	printTable(candidates)
	return nil
}

// build returns the reference and the service, built as the Makefile does, but with
// 127.0.0.1 as one of AWS's hosts; see internal/awsroots/loopback.go. As on Lambda's
// provided.al2023, the system's certificates are all in one file, which Go reads first, and
// each in a file of its own. https://go.dev/issue/79018
func build(e *endpoint, dir string) ([]candidate, error) {
	os.Setenv("CGO_ENABLED", "0")
	flags := []string{"-tags", "lambda.norpc,loopback_as_aws", "-trimpath", "-ldflags", "-s -w"}
	reference, err1 := harness.Build("test/bench/reference", flags...)
	service, err2 := harness.Build("cmd/lambda", flags...)
	const file = "/etc/ssl/certs/ca-certificates.crt"
	system, err3 := os.ReadFile(file)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	system = append(system, e.certificate...)
	bundle := filepath.Join(dir, "bundle")
	if err := os.WriteFile(bundle, system, 0o600); err != nil {
		return nil, err
	}
	each := filepath.Join(dir, "each")
	if err := os.Mkdir(each, 0o700); err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(system); block != nil; block, rest = pem.Decode(rest) {
		name := filepath.Join(each, fmt.Sprint(len(rest), ".pem")) // which no other has
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
	}
	env := []string{
		"SSL_CERT_FILE=" + bundle, "SSL_CERT_DIR=" + each, "LOOPBACK_ROOTS=" + string(e.certificate), "AWS_ENDPOINT_URL_DYNAMODB=" + e.dynamoDB.URL, "TABLE_NAME=plants",
		"TOKEN_ISSUER=" + authtest.IssuerURL, "TOKEN_AUDIENCE=" + authtest.Audience, "TOKEN_JWKS_URL=" + e.issuer.URL,
	}
	asDeployed := append(slices.Clip(env), "GOMAXPROCS=1", "GOGC=400", "SSL_CERT_DIR=/var/empty") // as in template.yaml
	// Another spelling of the address is not one of AWS's hosts.
	outside := "TOKEN_JWKS_URL=" + strings.Replace(e.issuer.URL, "127.0.0.1", "[::ffff:7f00:1]", 1)
	return []candidate{
		{"reference", reference, env, map[string][]float64{}},
		{"service, issuer on AWS", service, asDeployed, map[string][]float64{}},
		{"service, other issuer", service, append(slices.Clip(asDeployed), outside), map[string][]float64{}},
	}, nil
}

// warmCalls is the number of warm calls in each run.
const warmCalls = 300

// run starts a new copy of the program, makes calls and ends it. Where Linux happens
// to place a file in memory makes a difference of up to a fifth to a cold start.
func (c candidate) run(ctx context.Context, token string, round int) error {
	binary, err := os.ReadFile(c.binary)
	if err != nil {
		return err
	}
	bootstrap := filepath.Join(os.TempDir(), "bootstrap-"+rand.Text())
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
	first, err := call(ctx, e, token, round)
	if err != nil {
		return err
	}
	cold := cpuTime(e.Cmd.Process.Pid)
	c.add("init", init)
	c.add("first call", first)
	c.add("cold start: init and first call", init+first)
	c.add("CPU of the cold start", cold)
	for i := range warmCalls {
		took, err := call(ctx, e, token, round+1+i)
		if err != nil {
			return err
		}
		c.add("warm call", took)
	}
	c.add("CPU per warm call", (cpuTime(e.Cmd.Process.Pid)-cold)/warmCalls)
	return nil
}

// calls are made in turns. Each round begins with another one.
var calls = []struct {
	method, path, body string
	status             int
}{
	{"GET", "/plants", "", 200},
	{"POST", "/plants", openapi.Read().Resource("/plants").Create.Request("").Body, 200},
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

// cpuTime returns the processor time of a process, as the sum of its threads: the
// total in /proc has a resolution of only 10 ms.
// https://docs.kernel.org/scheduler/sched-stats.html
func cpuTime(pid int) (total time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, thread := range threads {
		b, _ := os.ReadFile(thread) // fails if the thread has ended
		var running time.Duration
		fmt.Sscan(string(b), &running)
		total += running
	}
	return total
}

// printTable prints the medians of all candidates, and the ratios to the first in bold.
func printTable(all []candidate) {
	names, rule := "", ""
	for _, c := range all {
		names, rule = names+" "+c.name+" |", rule+"--:|"
	}
	fmt.Printf("| |%s\n|---|%s\n", names, rule)
	for _, row := range rows {
		reference := median(all[0].results[row])
		fmt.Printf("| %s | %.2f ms |", row, reference)
		for _, c := range all[1:] {
			m := median(c.results[row])
			fmt.Printf(" **%.2f** (%.2f ms) |", m/reference, m)
		}
		fmt.Println()
	}
}

// median returns the upper one of two medians.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
