package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// The kinds of errors of [Document.Validate], to be tested with [errors.Is].
var (
	// ErrAnswer means that the answer is not as the document has it: its
	// status, a header, a member of its body.
	ErrAnswer = errors.New("the answer is not documented")

	// ErrAccepted means that the document forbids the request, and that it was
	// accepted all the same.
	ErrAccepted = errors.New("a request that the document forbids was accepted")

	// ErrRefused means that the document allows the request, and that its form
	// was refused all the same.
	ErrRefused = errors.New("a request that the document allows was refused")
)

// Validate holds one exchange to the document. Bodies are given whole; those of
// req and resp are not read.
//
// The path of req.URL is relative to the base address of the service. A nil
// URL stands for one that does not parse: then the answer must be one that
// the document has somewhere.
func (d *Document) Validate(req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) error {
	if req.URL == nil {
		return d.validateAnywhere(resp, respBody)
	}
	op, known := d.find(req.Method, req.URL.Path)
	if op == nil {
		return d.validateOther(req, known, resp, respBody)
	}
	documented := op.responses[resp.StatusCode]
	if documented == nil {
		return fmt.Errorf("%w: %s %s has no status %d", ErrAnswer, op.method, op.path, resp.StatusCode)
	}
	if err := d.validateResponse(documented, op.method, resp, respBody); err != nil {
		return err
	}
	if err := checkInclude(req, resp, respBody); err != nil {
		return err
	}
	return checkVerdict(op.checkRequest(req, reqBody), resp, respBody)
}

// find returns the operation of a path, decoded once, or nil. Known reports
// whether the path has other methods.
func (d *Document) find(method, path string) (op *operation, known bool) {
	for _, op := range d.operations {
		if !op.matches(path) {
			continue
		}
		if known = true; op.method == method {
			return op, true
		}
	}
	return nil, known
}

// matches reports whether the path is one of op's. A parameter stands for one
// segment.
func (op *operation) matches(path string) bool {
	got, want := strings.Split(path, "/"), strings.Split(op.path, "/")
	return slices.EqualFunc(got, want, func(got, want string) bool {
		return got == want || strings.HasPrefix(want, "{") && got != ""
	})
}

// validateOther checks the answer to a request that is no operation.
func (d *Document) validateOther(req *http.Request, known bool, resp *http.Response, body []byte) error {
	want := http.StatusNotFound
	if known {
		want = http.StatusMethodNotAllowed
	}
	documented := d.others[want]
	if resp.StatusCode != want || documented == nil {
		return fmt.Errorf("%w: the status is %d, want %d for what is no operation", ErrAnswer, resp.StatusCode, want)
	}
	if err := d.validateResponse(documented, req.Method, resp, body); err != nil {
		return err
	}
	if !known {
		return nil
	}
	var allowed []string
	for _, op := range d.operations {
		if op.matches(req.URL.Path) {
			allowed = append(allowed, op.method)
		}
	}
	slices.Sort(allowed)
	if got := resp.Header.Get("Allow"); got != strings.Join(allowed, ", ") {
		return fmt.Errorf("%w: Allow is %q, but the path has %q", ErrAnswer, got, allowed)
	}
	return nil
}

// validateAnywhere checks an answer whose request is not known.
func (d *Document) validateAnywhere(resp *http.Response, body []byte) error {
	err := fmt.Errorf("%w: nothing has the status %d", ErrAnswer, resp.StatusCode)
	candidates := []*response{d.others[resp.StatusCode]}
	for _, op := range d.operations {
		candidates = append(candidates, op.responses[resp.StatusCode])
	}
	for _, documented := range candidates {
		if documented == nil {
			continue
		}
		if err = d.validateResponse(documented, "", resp, body); err == nil {
			return nil
		}
	}
	return err
}

// state lists the errors that valid requests meet: of what is stored already,
// and of how they were sent.
var state = []int{40000, 40003, 40009}

// checkVerdict compares what the document says of a request, nil if it allows
// it, with what the service said.
func checkVerdict(fault error, resp *http.Response, body []byte) error {
	switch {
	case fault != nil && resp.StatusCode < 400:
		return fmt.Errorf("%w: %w", ErrAccepted, fault)
	case fault == nil && resp.StatusCode == http.StatusBadRequest && len(body) > 0:
		var e struct{ Error int }
		if err := json.Unmarshal(body, &e); err != nil {
			return err
		}
		if !slices.Contains(state, e.Error) {
			return fmt.Errorf("%w, with error %d", ErrRefused, e.Error)
		}
	}
	return nil
}

// checkInclude checks that plants in a list have their ids if, and only if,
// the request asked for them.
func checkInclude(req *http.Request, resp *http.Response, body []byte) error {
	var list []struct{ ID *json.Number }
	if req.Method != http.MethodGet || resp.StatusCode != http.StatusOK {
		return nil
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	asked := req.URL.Query().Has("include")
	for _, plant := range list {
		if (plant.ID != nil) != asked {
			return fmt.Errorf("%w: with include: %t, an element has an id: %t", ErrAnswer, asked, plant.ID != nil)
		}
	}
	return nil
}
