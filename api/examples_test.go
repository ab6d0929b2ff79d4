package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/openapi"
)

// byGateway are the statuses that only API Gateway returns.
var byGateway = []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}

// Every response of every operation occurs, with each of its examples, headers and
// their values. So the document lists nothing that never happens.
func TestExamples(t *testing.T) {
	d, issuer, seen := openapi.Read(), authtest.NewIssuer(t), http.Header{}
	operations := append(d.Operations, d.Other)
	for _, op := range operations {
		known := occasions(d, op, issuer)
		for status, resp := range op.Responses {
			if slices.Contains(byGateway, status) {
				continue
			}
			where := fmt.Sprint(op, " ", status, " in api/openapi.yaml")
			examples := resp.Content.Examples()
			if len(examples) == 0 {
				examples["no body"] = nil
			}
			here := http.Header{}
			for name, want := range examples {
				o, ok := known[name]
				switch {
				case op == d.Other && status == http.StatusNoContent:
					o = known["OPTIONS"]
				case !ok && status == http.StatusNotFound:
					o = occasion{} // nothing is stored
				case !ok && status < 300 && op != d.ResourceOf(op).Create:
					o = occasion{before: d.Creates()}
				case !ok && status >= 300:
					t.Errorf("%s has the new example %q: add to occasions in api/occasions_test.go how it occurs", where, name)
					continue
				}
				o.occur(t, newService(t, d, issuer, o.setup), op, status, want, here)
			}
			for name := range resp.Headers {
				if here.Values(name) == nil {
					t.Errorf("%s has the header %s, which never occurs", where, name)
				}
				seen[name] = append(seen[name], here.Values(name)...)
			}
		}
	}
	for _, op := range operations {
		for _, resp := range op.Responses {
			for name, header := range resp.Headers {
				for _, value := range listed(header) {
					if !slices.Contains(seen[name], fmt.Sprint(value)) {
						t.Errorf("the header %s in api/openapi.yaml has the value %v, which never occurs", name, value)
					}
				}
			}
		}
	}
	for _, op := range d.Operations { // each lists what every operation may answer
		for _, o := range occasions(d, op, issuer) {
			if o.last.Target == "" {
				r := op.Request("")
				if o.last.Header != nil {
					r.Header = o.last.Header
				}
				newService(t, d, issuer, o.setup).doAsDocumented(t, r)
			}
		}
	}
}

// listed returns the values that the document lists for a header: its example, those
// enumerated, and the bounds of an integer.
func listed(header *openapi.Parameter) (values []any) {
	if header.Example != nil {
		values = append(values, header.Example)
	}
	if header.Schema.Enum != nil {
		values = append(values, header.Schema.Enum.Values...)
	}
	if header.Schema.IsInteger() {
		values = append(values, header.Schema.Minimum.Num(), header.Schema.Maximum.Num())
	}
	return values
}
