package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A candidate is a function to measure.
type candidate struct {
	name   string
	binary string
	env    []string
	zip    int64 // bytes of what is deployed
}

// A sample is what one run of a candidate took.
type sample struct {
	init, first       time.Duration
	initCPU, firstCPU time.Duration
	warm              []time.Duration
	warmCPU           time.Duration // of all warm calls
	memory            int64         // bytes
}

// A plan says what one run does.
type plan struct {
	calls []call // in turn; the first is the cold one
	warm  int    // calls after the first
	quota *quota // of all calls, if any; an init has the whole processor
}

// run starts a candidate, has it answer calls, and ends it.
func run(ctx context.Context, c candidate, p plan) (s sample, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", c.name, err)
		}
	}()
	f, init, err := start(ctx, c.binary, c.env)
	if err != nil {
		return s, err
	}
	defer f.stop()
	pid := f.cmd.Process.Pid
	s.init = init
	if s.initCPU, err = cpuTime(pid); err != nil {
		return s, err
	}
	if p.quota != nil {
		if err := p.quota.add(pid); err != nil {
			return s, err
		}
	}
	if s.first, err = p.calls[0].make(f); err != nil {
		return s, err
	}
	afterFirst, err := cpuTime(pid)
	if err != nil {
		return s, err
	}
	s.firstCPU = afterFirst - s.initCPU
	for i := range p.warm {
		took, err := p.calls[(i+1)%len(p.calls)].make(f)
		if err != nil {
			return s, err
		}
		s.warm = append(s.warm, took)
	}
	afterWarm, err := cpuTime(pid)
	if err != nil {
		return s, err
	}
	s.warmCPU = afterWarm - afterFirst
	s.memory, err = peakMemory(pid)
	return s, err
}

// A call is an event and the status that its answer must have.
type call struct {
	event  []byte
	status int
}

// make has f answer the call. A wrong answer is an error: it must not count as
// a quick one.
func (c call) make(f *process) (took time.Duration, err error) {
	body, took, err := f.invoke(c.event)
	if err != nil {
		return 0, err
	}
	var answer struct{ StatusCode int }
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, fmt.Errorf("%w in the answer %s", err, body)
	}
	if answer.StatusCode != c.status {
		return 0, fmt.Errorf("status %d, want %d: %s", answer.StatusCode, c.status, body)
	}
	return took, nil
}

// newCalls returns a call of each operation.
func newCalls(token string) []call {
	return []call{
		{newEvent("GET", "/plants", "", token), 200},
		{newEvent("POST", "/plants", `{"id":7,"name":"Monstera","tag":"living room"}`, token), 200},
		{newEvent("DELETE", "/plants/7", "", token), 204},
	}
}

// newEvent returns an event as an HTTP API sends it.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
func newEvent(method, path, body, token string) []byte {
	const host = "0123456789.execute-api.eu-central-1.amazonaws.com"
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
		"headers": map[string]string{
			"accept": "*/*", "authorization": "Bearer " + token, "content-length": fmt.Sprint(len(body)),
			"content-type": "application/json", "host": host, "user-agent": "curl/8.5.0",
			"x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e", "x-forwarded-for": "203.0.113.7",
			"x-forwarded-port": "443", "x-forwarded-proto": "https",
		},
		"requestContext": map[string]any{
			"accountId": "123456789012", "apiId": "0123456789", "domainName": host, "domainPrefix": "0123456789",
			"http":      map[string]string{"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "curl/8.5.0"},
			"requestId": "JKJaXmPLvHcESHA=", "routeKey": "$default", "stage": "$default",
			"time": "10/Sep/2025:12:00:00 +0000", "timeEpoch": 1757505600000,
		},
		"body": body, "isBase64Encoded": false,
	})
	if err != nil {
		panic(err) // there is nothing in it that has no JSON
	}
	return event
}
