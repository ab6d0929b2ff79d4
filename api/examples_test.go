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
	d, issuer := openapi.Read(), authtest.NewIssuer(t)
	for _, op := range append(d.Operations, d.Other) {
		known := occasions(d, resource(op), issuer)
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
				case !ok && status < 300:
					o = known["other success"]
				case !ok:
					t.Errorf("%s has the new example %q: add to occasions in api/occasions_test.go how it occurs", where, name)
					continue
				}
				o.occur(t, newService(t, d, issuer, o.setup), op, status, want, here)
			}
			for name := range resp.Headers {
				if here.Values(name) == nil {
					t.Errorf("%s has the header %s, which never occurs", where, name)
				}
			}
			checkMembers(t, where, resp)
		}
	}
	for _, op := range d.Operations { // each lists what every operation may answer
		for _, o := range occasions(d, resource(op), issuer) {
			if o.last.Target == "" {
				r := op.Request("")
				if o.last.Header != nil {
					r.Header = o.last.Header
				}
				newService(t, d, issuer, o.setup).do(t, r)
			}
		}
	}
}

// resource returns the path of the list that has what op is about. For other
// requests it is that of plants.
func resource(op *openapi.Operation) string {
	path, _, _ := strings.Cut(op.Path, "/{")
	if !strings.HasPrefix(path, "/") {
		return "/plants"
	}
	return path
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
		if json.Unmarshal(body, &objects) != nil {
			json.Unmarshal(body, &objects[0]) // not a list
		}
		for _, object := range objects {
			for name := range object {
				shown[name] = true
			}
		}
	}
	for name := range schema.AllProperties() {
		if !shown[name] {
			t.Errorf("%s: no example has the member %q: add it, also to an example of the request", where, name)
		}
	}
}
