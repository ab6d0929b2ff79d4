package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Validate checks one exchange against the document. It returns an error if the
// response is undocumented, or if the service accepted a request that the
// document forbids or refused one that it allows. The bodies are passed whole;
// those of req and resp are not read. The path of req.URL is relative to the
// service's base address.
func (d *Document) Validate(req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) error {
	op, allowed := d.Find(req)
	want := op.Responses[resp.StatusCode]
	if want == nil {
		return fmt.Errorf("undocumented response to %s: status %d: add it to the operation's responses", op, resp.StatusCode)
	}
	if err := d.checkResponse(want, req.Method, resp, respBody); err != nil {
		return fmt.Errorf("undocumented response to %s: %w", op, err)
	}
	if op != d.Other {
		return op.checkVerdict(op.checkRequest(req, reqBody), resp, respBody)
	}
	if preflight := req.Method == http.MethodOptions && allowed != nil; preflight != (resp.StatusCode == http.StatusNoContent) {
		return fmt.Errorf("undocumented response to %s: status %d: OPTIONS on a path, and nothing else, is 204", req.Method, resp.StatusCode)
	}
	if got, want := resp.Header.Get("Allow"), strings.Join(allowed, ", "); got != want {
		return fmt.Errorf("undocumented response: status %d with Allow %q, want %q", resp.StatusCode, got, want)
	}
	return nil
}

// Find returns the operation of a request, or d.Other, and the methods that
// its path allows, sorted.
func (d *Document) Find(req *http.Request) (found *Operation, allowed []string) {
	found = d.Other
	for _, op := range d.Operations {
		if !op.matches(req.URL.Path) {
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
	if allowed != nil {
		allowed = append(allowed, http.MethodOptions)
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

// decidable are the codes of errors that checkRequest detects too. A request that
// the document allows may still fail with any other code of status 400.
var decidable = []int{
	40001, // malformed JSON
	40002, // a field
	40005, // the size of the body
	40006, // the query
	40007, // the id in the path
	40008, // the idempotency key
}

// checkVerdict checks that the service accepted or refused a request as the
// document does, where fault is nil if the document allows the request.
func (op *Operation) checkVerdict(fault error, resp *http.Response, body []byte) error {
	switch code := errorCode(body); {
	case fault != nil && resp.StatusCode < 400:
		return fmt.Errorf("accepted a request that the document forbids: %w", fault)
	case fault == nil && slices.Contains(decidable, code):
		return fmt.Errorf("refused a request that the document allows, with error %d", code)
	case len(op.Security) == 0 && resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("refused a request that needs no token")
	}
	return nil
}

// errorCode returns the code in the body of an error, or 0.
func errorCode(body []byte) int {
	var e struct{ Error int }
	json.Unmarshal(body, &e) // not every body is an error
	return e.Error
}
