package api_test

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/openapi"
)

// The document has the operations and the scopes of the route table.
func TestOperations(t *testing.T) {
	var documented, served []string
	for _, op := range openapi.Read().Operations {
		documented = append(documented, fmt.Sprint(op, " with security ", op.Security))
	}
	for _, rt := range handlers.Routes() {
		security := []map[string][]string{{"bearer": {rt.Scope}}}
		served = append(served, fmt.Sprint(rt.Method, " ", rt.Pattern, " with security ", security))
	}
	compare(t, "operation", documented, served, "api/openapi.yaml under paths", "internal/handlers/routes.go")
}

// compare reports the differences between the things of one kind that are
// documented and those that are served, and the places to add them to.
func compare(t *testing.T, kind string, documented, served []string, document, code string) {
	t.Helper()
	for _, v := range served {
		if !slices.Contains(documented, v) {
			t.Errorf("the %s %s is undocumented: add it to %s", kind, v, document)
		}
	}
	for _, v := range documented {
		if !slices.Contains(served, v) {
			t.Errorf("the %s %s doesn't exist: remove it from %s, or add it to %s", kind, v, document, code)
		}
	}
}

// The schema of a create has every field of a plant. Its other schemas are made of the
// same ones.
func TestFields(t *testing.T) {
	var documented, fields []string
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		fields = append(fields, strings.ToLower(field.Name))
	}
	for _, r := range openapi.Read().Resources {
		for name := range r.Create.RequestBody.Content.JSON.Schema.AllProperties() {
			documented = append(documented, name)
		}
	}
	compare(t, "field", documented, fields, "NewPlant in api/openapi.yaml", "plants.Plant")
}

// Each resource has scopes of its own: a row that was copied with the scope of another
// resource would accept tokens that must not do.
func TestScopes(t *testing.T) {
	resourceOf := map[string]*openapi.Resource{}
	for _, r := range openapi.Read().Resources {
		for _, op := range slices.Concat(r.Items, []*openapi.Operation{r.Create, r.List}) {
			if op == nil || op.Path != r.Path && !strings.HasSuffix(op.Path, "}") { // such as POST /plants/{id}/loan
				continue
			}
			other := cmp.Or(resourceOf[op.Scope()], r)
			if other != r {
				t.Errorf("%s has the scope %s, as %s has: correct it in internal/handlers/routes.go and api/openapi.yaml, or delete this test if they are to share it", op, op.Scope(), other.Path)
			}
			resourceOf[op.Scope()] = other
		}
	}
}

// Each member of a response is in one of its examples.
func TestMembers(t *testing.T) {
	for _, op := range openapi.Read().Operations {
		for status, resp := range op.Responses {
			if resp.Content.JSON == nil {
				continue
			}
			schema := resp.Content.JSON.Schema
			if schema.Items2020 != nil { // of a list
				schema = &openapi.Schema{Schema: schema.Items2020}
			}
			examples := fmt.Sprintf("%s", resp.Content.Examples())
			for name := range schema.AllProperties() {
				if !strings.Contains(examples, fmt.Sprintf("%q:", name)) {
					t.Errorf("%s %d in api/openapi.yaml: no example has the member %q: add it, also to an example of the request", op, status, name)
				}
			}
		}
	}
}

// The description of ErrorCode has the codes of the examples, all of which occur.
func TestErrorCodes(t *testing.T) {
	find := func(pattern string) (codes []string) {
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(api.Document, -1) {
			codes = append(codes, string(match[1]))
		}
		return codes
	}
	compare(t, "error code", find(`\| (\d+) \|`), find(`{error: (\d+),`), "ErrorCode in api/openapi.yaml", "the examples there")
}
