package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// resources has the type of each path where something is created.
var resources = map[string]reflect.Type{
	"/plants": reflect.TypeFor[plants.Plant](),
}

// The document has every field of every resource. Its other schemas of a resource are
// made of the same ones.
func TestFields(t *testing.T) {
	for _, op := range openapi.Read().Operations {
		if op.Method != http.MethodPost {
			continue
		}
		fields := []string{op.Path + " id"}
		if resources[op.Path] == nil {
			t.Fatalf("add %s to resources in api/document_test.go", op.Path)
		}
		for field := range resources[op.Path].Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, op.Path+" "+name)
		}
		var properties []string
		for name := range op.RequestBody.Content.JSON.Schema.AllProperties() {
			properties = append(properties, op.Path+" "+name)
		}
		compare(t, "field", properties, fields, "the resource's schema in api/openapi.yaml", resources[op.Path].String())
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

// Validate accepts an exchange without a fault, and notices each of these: a fault
// that it misses could hide one of the service.
func TestValidate(t *testing.T) {
	d := openapi.Read()
	fails := func(sent, received string) bool {
		t.Helper()
		req := httptest.NewRequest("POST", "/plants", nil)
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(received)), req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		return errors.Join(err, d.Validate(req, []byte(sent), resp, body)) != nil
	}
	const allowed, forbidden = `{"id": 7, "name": "Basil"}`, `{"id": 1.0, "name": "Basil"}`
	const head = "Cache-Control: no-store\nX-Content-Type-Options: nosniff\nX-Request-Id: x\nContent-Type: application/json\n\n"
	const accepted, refused = "HTTP/1.1 200 OK\n" + head + `{"name":"Basil"}`, "HTTP/1.1 400 Bad Request\n" + head + `{"error":40002,"message":"x"}`
	if fails(allowed, accepted) || fails(forbidden, refused) || !fails(allowed, refused) || !fails(forbidden, accepted) {
		t.Error("wrong verdict on an exchange")
	}
	for _, fault := range [][2]string{
		{"200 OK", "201 Created"}, {"Cache-Control: no-store\n", ""}, {"no-store", "store"}, {"no-store", "no-store\nCache-Control: no-store"},
		{"X-Request", "X-Other: x\nX-Request"}, {"application/json", "text/plain"}, {`"Basil"`, "7"}, {"}", "}{}"}, {"}", `,"name":"Basil"}`},
	} {
		if !fails(allowed, strings.Replace(accepted, fault[0], fault[1], 1)) {
			t.Errorf("%q instead of %q passes", fault[1], fault[0])
		}
	}
	if !fails(forbidden, strings.Replace(refused, "40002", "40006", 1)) {
		t.Error("the error of another operation passes")
	}
}
