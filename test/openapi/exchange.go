package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The errors of [Document.Validate], to be tested with [errors.Is].
var (
	// ErrAnswer means that the document doesn't have the response.
	ErrAnswer = errors.New("the response is not documented")

	// ErrAccepted means that the service accepted a request that the document
	// forbids.
	ErrAccepted = errors.New("a request that the document forbids was accepted")

	// ErrRefused is the opposite of ErrAccepted.
	ErrRefused = errors.New("a request that the document allows was refused")
)

// Validate checks one exchange against the document. The bodies are passed
// whole; those of req and resp are not read.
//
// The path of req.URL is relative to the service's base address. If req.URL is
// nil, the request is unknown, and the response must be one of any operation.
func (d *Document) Validate(req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) error {
	op, allowed := d.Find(req)
	candidates := []*Operation{op}
	if req.URL == nil {
		candidates = d.all
	}
	err := fmt.Errorf("no status %d: add it to the operation's responses", resp.StatusCode)
	for _, candidate := range candidates {
		if want := candidate.Responses[resp.StatusCode]; want != nil {
			if err = d.checkResponse(want, req.Method, resp, respBody); err == nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAnswer, op, err)
	}
	if op != d.Other {
		return op.checkVerdict(op.checkRequest(req, reqBody), resp, respBody)
	}
	if got, want := resp.Header.Get("Allow"), strings.Join(allowed, ", "); got != want && req.URL != nil {
		return fmt.Errorf("%w: status %d with Allow %q, want %q", ErrAnswer, resp.StatusCode, got, want)
	}
	return nil
}

// Find returns the operation of a request, or d.Other, and the methods that
// its path allows, sorted.
func (d *Document) Find(req *http.Request) (found *Operation, allowed []string) {
	found = d.Other
	for _, op := range d.Operations {
		if req.URL == nil || !op.matches(req.URL.Path) {
			continue
		}
		allowed = append(allowed, op.Method)
		if op.Method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
		if op.Method == req.Method || op.Method == http.MethodGet && req.Method == http.MethodHead {
			found = op
		}
	}
	slices.Sort(allowed)
	return found, allowed
}

// matches reports whether path, decoded once, is one of op's. A path parameter
// matches one segment.
func (op *Operation) matches(path string) bool {
	got, want := strings.Split(path, "/"), strings.Split(op.Path, "/")
	return slices.EqualFunc(got, want, func(got, want string) bool {
		return got == want || strings.HasPrefix(want, "{") && got != ""
	})
}

// decidable are the codes of requests that break a rule which checkRequest
// knows too. A valid request may meet any other code of status 400.
var decidable = []int{
	40001, // malformed JSON
	40002, // a field
	40005, // the size of the body
	40006, // the query
	40007, // the id in the path
	40008, // the idempotency key
}

// checkVerdict compares what the document says about a request, nil if it
// allows it, with what the service says.
func (op *Operation) checkVerdict(fault error, resp *http.Response, body []byte) error {
	switch code := errorCode(body); {
	case fault != nil && resp.StatusCode < 400:
		return fmt.Errorf("%w: %w", ErrAccepted, fault)
	case fault == nil && slices.Contains(decidable, code):
		return fmt.Errorf("%w, with error %d", ErrRefused, code)
	case len(op.Security) == 0 && resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: it needs no token", ErrRefused)
	}
	return nil
}

// errorCode returns the code in the body of an error, or 0.
func errorCode(body []byte) int {
	var e struct{ Error int }
	if json.Unmarshal(body, &e) != nil {
		return 0
	}
	return e.Error
}
