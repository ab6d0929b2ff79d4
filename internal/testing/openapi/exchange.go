package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Validate checks one exchange against the document. It returns an error if the
// response is undocumented, or if the service accepted a request that the
// document forbids or rejected one that it allows. It uses reqBody and respBody
// and doesn't read req.Body and resp.Body. The path of req.URL is relative to the
// service's base address.
func (d *Document) Validate(req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) error {
	op := d.find(req)
	want := op.Responses[resp.StatusCode]
	if want == nil {
		return fmt.Errorf("undocumented response to %s: status %d: add it to the operation's responses", op, resp.StatusCode)
	}
	if err := want.check(req.Method, resp, respBody); err != nil {
		return fmt.Errorf("undocumented response to %s: %w", op, err)
	}
	d.see(op, req, reqBody, resp, respBody)
	switch fault := op.checkRequest(req, reqBody); {
	case fault != nil && resp.StatusCode < 400:
		return fmt.Errorf("accepted a request that the document forbids: %w", fault)
	case fault == nil && slices.Contains(decidable, errorCode(respBody)):
		return fmt.Errorf("%w, with error %d", ErrRefused, errorCode(respBody))
	}
	return nil
}

// ErrRefused means that the service refused a request that the schemas of the document allow.
var ErrRefused = errors.New("refused a request that the document allows")

// decidable are the codes of errors that checkRequest detects too. A request that
// the document allows may still fail with other codes of status 400.
var decidable = []int{
	40001, // malformed JSON
	40002, // a field
	40005, // the size of the body
	40006, // the query
	40007, // the id in the path
}

// find returns the operation of a request, or d.Other.
func (d *Document) find(req *http.Request) *Operation {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range d.Operations {
		if op.Method == method && op.matches(req.URL.Path) {
			return op
		}
	}
	return d.Other
}

// matches reports whether path, decoded once, matches the path of op. A path
// parameter matches one segment.
func (op *Operation) matches(path string) bool {
	got, want := strings.Split(path, "/"), strings.Split(op.Path, "/")
	return slices.EqualFunc(got, want, func(got, want string) bool {
		return got == want || strings.HasPrefix(want, "{") && got != ""
	})
}

// errorCode returns the code in the body of an error, or 0.
func errorCode(body []byte) int {
	var e struct{ Error int }
	json.Unmarshal(body, &e) // not every body is an error
	return e.Error
}

// checkRequest returns the first violation of the document in a request.
func (op *Operation) checkRequest(req *http.Request, body []byte) error {
	if _, err := url.ParseQuery(req.URL.RawQuery); err != nil &&
		slices.ContainsFunc(op.Parameters, func(p *Parameter) bool { return p.In == "query" }) {
		return err
	}
	for _, p := range op.Parameters {
		if err := p.check(op.values(p, req)); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if op.RequestBody == nil {
		return nil
	}
	if len(body) > op.RequestBody.MaxBytes {
		return fmt.Errorf("the body has %d bytes, more than %d", len(body), op.RequestBody.MaxBytes)
	}
	if err := op.RequestBody.Content.JSON.Schema.checkJSON(body); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// values returns the values of a parameter in a request.
func (op *Operation) values(p *Parameter, req *http.Request) []string {
	switch p.In {
	case "path":
		i := slices.Index(strings.Split(op.Path, "/"), "{"+p.Name+"}")
		return []string{strings.Split(req.URL.Path, "/")[i]}
	case "query":
		return req.URL.Query()[p.Name]
	}
	return req.Header.Values(p.Name)
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

// check checks a response.
func (r *Response) check(method string, resp *http.Response, body []byte) error {
	if err := r.checkHeaders(resp); err != nil {
		return err
	}
	if method == http.MethodHead {
		return nil
	}
	types := resp.Header.Values("Content-Type")
	if r.Content.JSON == nil {
		if len(body) > 0 || len(types) > 0 {
			return fmt.Errorf("want no body, got %d bytes of %q", len(body), types)
		}
		return nil
	}
	if !slices.Equal(types, []string{"application/json"}) {
		return fmt.Errorf("the Content-Type is %q, want application/json", types)
	}
	if r.MaxBytes > 0 && len(body) > r.MaxBytes {
		return fmt.Errorf("the body has %d bytes, more than %d", len(body), r.MaxBytes)
	}
	if err := r.Content.JSON.Schema.checkJSON(body); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	known := map[int]bool{0: true} // 0 if the body is not an error
	for _, example := range r.Content.Examples() {
		known[errorCode(example)] = true
	}
	if code := errorCode(body); !known[code] {
		return fmt.Errorf("the body: at '/error': status %d has no example with error %d: add one to the response",
			resp.StatusCode, code)
	}
	return nil
}

// checkHeaders checks that all headers are documented and have the documented
// values.
func (r *Response) checkHeaders(resp *http.Response) error {
	// OpenAPI documents don't list the headers of HTTP itself.
	documented := []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}
	for name, header := range r.Headers {
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
