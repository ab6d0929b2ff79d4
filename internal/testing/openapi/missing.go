package openapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// see records which parts of the document occur in an exchange.
func (d *Document) see(op *Operation, req *http.Request, reqBody []byte, resp *http.Response, respBody []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if resp.StatusCode < 300 {
		d.seen[fmt.Sprint(op, format(reqBody))] = true
		for _, p := range op.Parameters {
			d.seen[fmt.Sprint(op, p.Name, op.values(p, req))] = true
		}
	}
	response := fmt.Sprint(op, resp.StatusCode)
	d.seen[response] = true
	d.seen[response+format(respBody)] = true
	for name := range op.Responses[resp.StatusCode].Headers {
		for _, value := range resp.Header.Values(name) {
			d.seen[response+name] = true
			d.seen[name+value] = true
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
// passed to Validate: responses, headers, and examples of bodies, parameters and headers.
func (d *Document) Missing() (all []string) {
	missing := func(key, format string, args ...any) {
		if !d.seen[key] {
			all = append(all, fmt.Sprintf(format, args...)+": remove it from api/openapi.yaml, "+
				"or add an exchange in which it occurs")
		}
	}
	for _, op := range append(slices.Clone(d.Operations), d.Other) {
		for _, p := range op.Parameters {
			if p.Example != nil {
				missing(fmt.Sprint(op, p.Name, []string{fmt.Sprint(p.Example)}), "%s never succeeds with the example of %s, %v",
					op, p.Name, p.Example)
			}
		}
		if op.RequestBody != nil {
			for name, example := range op.RequestBody.Content.Examples() {
				missing(fmt.Sprint(op, format(example)), "%s never succeeds with the example %s, %s", op, name, example)
			}
		}
		for status, resp := range op.Responses {
			if slices.Contains(byGateway, status) {
				continue
			}
			response := fmt.Sprint(op, status)
			if missing(response, "%s never has the status %d", op, status); !d.seen[response] {
				continue // its parts are missing too
			}
			for name, example := range resp.Content.Examples() {
				missing(response+format(example), "%s %d never has the example %s, %s", op, status, name, example)
			}
			for name, header := range resp.Headers {
				missing(response+name, "%s %d never has the header %s", op, status, name)
				for _, value := range header.examples() {
					missing(name+fmt.Sprint(value), "the header %s never has the value %v", name, value)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// examples returns the examples of a header and of its schema.
func (p *Parameter) examples() []any {
	if p.Example == nil {
		return p.Schema.Examples
	}
	return append([]any{p.Example}, p.Schema.Examples...)
}
