package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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

// checkRequest returns the first violation of the document in a request.
func (op *Operation) checkRequest(req *http.Request, body []byte) error {
	header := http.Header{}
	for name, values := range req.Header { // tests send names in any case
		for _, value := range values {
			header.Add(name, value)
		}
	}
	if len(op.Security) > 0 && header.Get("Authorization") == "" {
		return fmt.Errorf("the request has no token")
	}
	for _, p := range op.Parameters {
		values, err := op.values(p, req, header)
		if err != nil {
			return err
		}
		if err := p.check(values); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if op.RequestBody == nil || len(body) == 0 && !op.RequestBody.Required {
		return nil
	}
	if len(body) > op.RequestBody.MaxBytes {
		return fmt.Errorf("the body has %d bytes, more than %d", len(body), op.RequestBody.MaxBytes)
	}
	if err := op.RequestBody.Content.JSON.Schema.checkJSON(body, false); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// values returns the values of p in a request to op.
func (op *Operation) values(p *Parameter, req *http.Request, header http.Header) ([]string, error) {
	switch p.In {
	case "path":
		want, got := strings.Split(op.Path, "/"), strings.Split(req.URL.Path, "/")
		return []string{got[slices.Index(want, "{"+p.Name+"}")]}, nil
	case "query":
		query, err := url.ParseQuery(req.URL.RawQuery)
		return query[p.Name], err
	case "header":
		return header.Values(p.Name), nil
	}
	return nil, fmt.Errorf("parameters in %q are not supported: add them to test/openapi/exchange.go", p.In)
}

// check checks the values of a parameter or a header.
func (p *Parameter) check(values []string) error {
	switch {
	case len(values) > 1:
		return fmt.Errorf("given %d times", len(values))
	case len(values) == 1:
		return p.Schema.checkText(values[0])
	case p.Required:
		return fmt.Errorf("missing")
	}
	return nil
}

// transport are headers that belong to HTTP itself. OpenAPI leaves them out.
var transport = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// checkResponse checks a response against what the document says about its
// status.
func (d *Document) checkResponse(want *Response, method string, resp *http.Response, body []byte) error {
	if err := d.checkHeaders(want, resp); err != nil {
		return err
	}
	if method == http.MethodHead {
		if len(body) > 0 {
			return fmt.Errorf("a response to HEAD has a body")
		}
		return nil
	}
	types := resp.Header.Values("Content-Type")
	if want.Content.JSON == nil {
		if len(body) > 0 || len(types) > 0 {
			return fmt.Errorf("want no body, got %d bytes of %q", len(body), types)
		}
		return nil
	}
	if !slices.Equal(types, []string{"application/json"}) {
		return fmt.Errorf("the Content-Type is %q, want application/json", types)
	}
	if err := want.Content.JSON.Schema.checkJSON(body, true); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if code := errorCode(body); code != 0 && !slices.Contains(want.Codes(), code) {
		return fmt.Errorf("the body: at '/error': status %d has no example with error %d: add one to the response", resp.StatusCode, code)
	}
	return nil
}

// checkHeaders checks that all headers are documented and have the documented
// values.
func (d *Document) checkHeaders(want *Response, resp *http.Response) error {
	documented := slices.Concat(transport, d.FrontHeaders)
	for name, header := range want.Headers {
		if err := header.check(resp.Header.Values(name)); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
		documented = append(documented, http.CanonicalHeaderKey(name))
	}
	for name, values := range resp.Header {
		if !slices.Contains(documented, name) {
			return fmt.Errorf("status %d has no header %s (%q): add it to the response's headers", resp.StatusCode, name, values)
		}
	}
	return nil
}

// Codes returns the error codes in r's examples, sorted.
func (r *Response) Codes() (codes []int) {
	for _, body := range r.Content.Examples() {
		if code := errorCode(body); code != 0 {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Examples returns the examples of bodies, as JSON by name.
func (c Content) Examples() map[string][]byte {
	all := map[string][]byte{}
	if c.JSON != nil {
		for name, example := range c.JSON.Examples {
			all[name] = example.Value
		}
	}
	return all
}
