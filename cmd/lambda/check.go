package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/lambdahttp"
)

// A checker answers invocations with the payload {"check": true}. It tells whether
// the function works: before a new version gets traffic (cmd/hook), and whenever
// an operator asks (make check-deployed). It leaves all other invocations to next.
//
// A check needs the IAM permission to invoke the function. Clients of an HTTP API or
// a function URL can't start one: the event of an HTTP request has other members.
type checker struct {
	// parts return an error if the named part doesn't work. The text of the
	// error is in the report, so it must not contain secrets.
	parts map[string]func(context.Context) error
	log   *slog.Logger
	next  lambda.Handler
}

// A report has "ok" or the reason of the failure, for each part: those of the
// checker, and http, which answers HTTP requests.
type report struct {
	OK    bool              `json:"ok"`
	Parts map[string]string `json:"parts"`
}

// Invoke implements [lambda.Handler].
func (c *checker) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event map[string]bool
	if json.Unmarshal(payload, &event) != nil || !maps.Equal(event, map[string]bool{"check": true}) {
		return c.next.Invoke(ctx, payload)
	}
	r := c.check(ctx)
	// Errors may quote a server's bytes.
	return json.Marshal(r, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// check checks all parts, those of c at the same time, and logs the result.
func (c *checker) check(ctx context.Context) report {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
	)
	r := report{OK: true, Parts: map[string]string{}}
	record := func(name string, err error) {
		mu.Lock()
		defer mu.Unlock()
		r.Parts[name] = "ok"
		if err != nil {
			r.OK, r.Parts[name] = false, err.Error()
		}
	}
	record("http", c.request(ctx))
	ctx, cancel := lambdahttp.WithInvocation(ctx)
	defer cancel()
	for name, works := range c.parts {
		group.Go(func() { record(name, works(ctx)) })
	}
	group.Wait()
	level := slog.LevelInfo
	if !r.OK {
		level = slog.LevelError
	}
	c.log.Log(ctx, level, "check", "parts", r.Parts)
	return r
}

// request sends an HTTP request without a token. That it is rejected with 401
// proves that the function converts requests, routes them and demands a token.
func (c *checker) request(ctx context.Context) error {
	answer, err := c.next.Invoke(ctx, []byte(`{"version":"2.0","rawPath":"/plants","requestContext":{"http":{"method":"GET"}}}`))
	if err != nil {
		return err
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(answer, &response); err != nil || response.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("a request without a token got %.200s, want status 401", answer)
	}
	return nil
}
