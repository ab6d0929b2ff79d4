package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/openapi"
)

// byGateway are the statuses that only API Gateway returns.
var byGateway = []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}

// Every response of every operation occurs, with each of its examples, headers
// and members. So the document lists nothing that never happens.
func TestExamples(t *testing.T) {
	d, issuer := parse(t), authtest.NewIssuer(t)
	known, seen := occasions(t, d, issuer), http.Header{}
	operations := append(d.Operations, d.Other)
	for _, op := range operations {
		for status, resp := range op.Responses {
			if slices.Contains(byGateway, status) {
				continue
			}
			examples := resp.Content.Examples()
			if len(examples) == 0 && op == d.Other {
				examples = map[string][]byte{"OPTIONS": nil}
			} else if len(examples) == 0 {
				examples = map[string][]byte{"no body": nil}
			}
			here := http.Header{}
			for name, want := range examples {
				o, ok := known[name]
				if !ok && status < 300 {
					o, ok = known["other success"], true
				}
				if !ok {
					t.Errorf("the example %q of %s in api/openapi.yaml is new: add to occasions in api/occasions_test.go how it occurs", name, op)
					continue
				}
				t.Run(fmt.Sprint(op, " ", status, " ", name), func(t *testing.T) {
					o.occur(t, newService(t, d, issuer, o.setup), op, status, want, here)
				})
			}
			for name := range resp.Headers {
				if here.Values(name) == nil {
					t.Errorf("%s %d in api/openapi.yaml has the header %s, which never occurs", op, status, name)
				}
				seen[name] = append(seen[name], here.Values(name)...)
			}
			checkMembers(t, fmt.Sprint(op, " ", status), resp)
		}
	}
	for _, op := range operations {
		for _, resp := range op.Responses {
			checkValues(t, resp.Headers, seen)
		}
	}
	for _, op := range d.Operations { // each lists what every operation may answer
		for _, o := range known {
			if o.last.target == "" {
				r := request(op, "")
				r.header = o.last.header
				newService(t, d, issuer, o.setup).do(t, r)
			}
		}
	}
}

// checkMembers checks that examples of a response have all its members.
func checkMembers(t *testing.T, where string, resp *openapi.Response) {
	t.Helper()
	if resp.Content.JSON == nil {
		return
	}
	schema := resp.Content.JSON.Schema
	if schema.Items2020 != nil {
		schema = &openapi.Schema{Schema: schema.Items2020}
	}
	shown := map[string]bool{}
	for _, body := range resp.Content.Examples() {
		objects := []map[string]any{{}}
		if json.Unmarshal(body, &objects) != nil && json.Unmarshal(body, &objects[0]) != nil {
			t.Errorf("%s: the example %s is not an object or a list of objects", where, body)
		}
		for _, object := range objects {
			for name := range object {
				shown[name] = true
			}
		}
	}
	for name := range schema.AllProperties() {
		if !shown[name] {
			t.Errorf("%s: no example has the member %q: add it to examples in api/openapi.yaml, of the request too", where, name)
		}
	}
}

// checkValues checks that the values that the document lists for headers were
// seen: examples, enumerated values, and bounds.
func checkValues(t *testing.T, headers map[string]*openapi.Parameter, seen http.Header) {
	t.Helper()
	for name, header := range headers {
		var listed []any
		if header.Example != nil {
			listed = append(listed, header.Example)
		}
		if header.Schema.Enum != nil {
			listed = append(listed, header.Schema.Enum.Values...)
		}
		if header.Schema.IsInteger() {
			listed = append(listed, header.Schema.Minimum.Num(), header.Schema.Maximum.Num())
		}
		for _, value := range listed {
			if !slices.Contains(seen[name], fmt.Sprint(value)) {
				t.Errorf("the header %s in api/openapi.yaml has the value %v, which never occurs", name, value)
			}
		}
	}
}

// Links lead to operations that succeed.
func TestLinks(t *testing.T) {
	d := parse(t)
	for _, op := range d.Operations {
		for _, resp := range op.Responses {
			for name, link := range resp.Links {
				s := newService(t, d, authtest.NewIssuer(t), setup{})
				first := request(op, "")
				s.do(t, first)
				i := slices.IndexFunc(d.Operations, func(op *openapi.Operation) bool { return op.ID == link.OperationID })
				if i < 0 {
					t.Fatalf("the link %s of %s in api/openapi.yaml leads to no operation", name, op)
				}
				for parameter, expression := range link.Parameters {
					var body map[string]json.RawMessage
					if err := json.Unmarshal([]byte(first.body), &body); err != nil {
						t.Fatal(err)
					}
					value := string(body[strings.TrimPrefix(expression, "$request.body#/")])
					if resp, body := s.do(t, request(d.Operations[i], parameter, value)); resp.StatusCode >= 300 {
						t.Errorf("the link %s of %s in api/openapi.yaml leads to %d %s", name, op, resp.StatusCode, body)
					}
				}
			}
		}
	}
}
