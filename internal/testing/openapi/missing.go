package openapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A part is a part of the document that can occur in an exchange: a parameter or the body of a
// request that succeeds, a response, or a header or the body of a response.
type part struct {
	op     *Operation
	status int    // of the response; 0 for the request
	name   string // of the parameter or the header; "" for the body
	value  string // "" for any
}

// see records which parts of the document occur in an exchange.
func (d *Document) see(op *Operation, req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if resp.StatusCode < 300 {
		d.seen[part{op: op, value: format(reqBody)}] = true
		for _, p := range op.Parameters {
			for _, value := range op.values(p, req) {
				d.seen[part{op: op, name: p.Name}] = true
				d.seen[part{op: op, name: p.Name, value: value}] = true
			}
		}
	}
	status := resp.StatusCode
	d.seen[part{op: op, status: status}] = true
	d.seen[part{op: op, status: status, value: format(respBody)}] = true
	for name := range op.Responses[status].Headers {
		for _, value := range resp.Header.Values(name) {
			d.seen[part{op: op, status: status, name: name}] = true
			d.seen[part{name: name, value: value}] = true // in any response
		}
	}
}

// format returns JSON in a uniform format, keeping the order of members.
func format(text []byte) string {
	v := jsontext.Value(text).Clone()
	v.Format() // fails if there is no body
	return string(v)
}

// byGateway are the statuses that only API Gateway returns.
var byGateway = []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}

// Missing returns a sentence for each part of the document that has occurred in no exchange
// passed to Validate: parameters, responses, headers, and examples of these and of bodies.
func (d *Document) Missing() (all []string) {
	missing := func(p part, format string, args ...any) bool {
		if !d.seen[p] {
			all = append(all, fmt.Sprintf(format, args...)+": remove it from api/openapi.yaml, "+
				"or add an exchange in which it occurs")
		}
		return !d.seen[p]
	}
	for _, op := range append(slices.Clone(d.Operations), d.Other) {
		for _, p := range op.Parameters {
			missing(part{op: op, name: p.Name}, "%s never succeeds with the parameter %s", op, p.Name)
			for _, value := range p.examples() {
				missing(part{op: op, name: p.Name, value: value}, "%s never succeeds with %s=%s", op, p.Name, value)
			}
		}
		if op.RequestBody != nil {
			for name, example := range op.RequestBody.Content.Examples() {
				missing(part{op: op, value: format(example)}, "%s never succeeds with the example %s, %s", op, name, example)
			}
		}
		for status, resp := range op.Responses {
			if slices.Contains(byGateway, status) ||
				missing(part{op: op, status: status}, "%s never has the status %d", op, status) {
				continue // its parts are missing too
			}
			for name, example := range resp.Content.Examples() {
				missing(part{op: op, status: status, value: format(example)}, "%s %d never has the example %s, %s",
					op, status, name, example)
			}
			for name, header := range resp.Headers {
				missing(part{op: op, status: status, name: name}, "%s %d never has the header %s", op, status, name)
				for _, value := range header.examples() {
					missing(part{name: name, value: value}, "the header %s never has the value %s", name, value)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// examples returns the examples of a parameter or a header, and those of its schema.
func (p *Parameter) examples() (all []string) {
	for _, value := range append([]any{p.Example}, p.Schema.Examples...) {
		if value != nil {
			all = append(all, fmt.Sprint(value))
		}
	}
	return all
}
