package handlers_test

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
	"example.com/plantstore/internal/testing/openapi"
)

// The document lists the routes of the service, with their scopes. Operation ids are unique,
// since generated clients name their methods after them. Summary and description together are
// short enough for tools that agents call, of which GPT actions allow 300 characters.
func TestDocumentedRoutes(t *testing.T) {
	var documented, served []string
	operations := map[string]*openapi.Operation{} // by operationId
	for _, op := range openapi.Read().Operations {
		if other := operations[op.OperationID]; op.OperationID == "" || other != nil {
			t.Errorf("the operationId %q of %s is empty or also that of %v: change it in api/openapi.yaml",
				op.OperationID, op, other)
		}
		operations[op.OperationID] = op
		if n := len(op.Summary) + len(op.Description); n > 300 {
			t.Errorf("summary and description of %s have %d bytes, more than 300: shorten them in api/openapi.yaml", op, n)
		}
		documented = append(documented, fmt.Sprint(op, " with security ", op.Security))
	}
	for _, rt := range handlers.Routes() {
		security := []map[string][]string{{"bearer": {rt.Scope}}}
		served = append(served, fmt.Sprint(rt.Method, " ", rt.Pattern, " with security ", security))
	}
	compare(t, "route", documented, served, "api/openapi.yaml under paths", "internal/handlers/routes.go")
}

// The description of ErrorCode lists the codes of the examples, all of which occur.
func TestDocumentedErrorCodes(t *testing.T) {
	find := func(pattern string) (codes []string) {
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(api.Document, -1) {
			codes = append(codes, string(match[1]))
		}
		return codes
	}
	compare(t, "error code", find(`\| (\d+) \|`), find(`{error: (\d+),`),
		"ErrorCode in api/openapi.yaml", "the examples there")
}

// The schemas of bodies, and the examples of responses, contain every field. Only a create and a
// list contain the id.
func TestDocumentedFields(t *testing.T) {
	types := map[string]reflect.Type{"plants": reflect.TypeFor[plants.Plant]()} // by the first segment of the path
	for _, op := range openapi.Read().Operations {
		kind := types[strings.Split(op.Path, "/")[1]]
		if kind == nil {
			t.Fatalf("add the type of %s to types in internal/handlers/document_test.go", op)
		}
		var fields []string
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",") // which the id has, too
			fields = append(fields, name)
		}
		withoutID := slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == "id" })
		inRequest, inResponse := withoutID, withoutID
		switch {
		case op.Method == "POST":
			inRequest = fields
		case op.Method == "GET" && !strings.Contains(op.Path, "{"):
			inResponse = fields
		}
		if op.RequestBody != nil {
			compare(t, "field", op.RequestBody.Content.JSON.Schema.Members(), inRequest,
				fmt.Sprint("the request of ", op, " in api/openapi.yaml"), kind.String())
		}
		ok := cmp.Or(op.Responses[200], op.Responses[201])
		if ok == nil { // a delete has no body
			continue
		}
		place := fmt.Sprint("the response of ", op, " in api/openapi.yaml")
		compare(t, "field", ok.Content.JSON.Schema.Members(), inResponse, place, kind.String())
		examples := fmt.Sprintf("%s", ok.Content.Examples())
		for _, name := range inResponse {
			if !strings.Contains(examples, fmt.Sprintf("%q:", name)) {
				t.Errorf("no example of %s contains the member %q: add it, also to an example of the request", place, name)
			}
		}
	}
}

// compare reports things of a kind that are documented but not served, or served but not
// documented, and where to add them.
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
