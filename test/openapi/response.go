package openapi

import (
	"fmt"
	"net/http"
	"slices"
)

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
