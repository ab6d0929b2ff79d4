package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/openapi"
)

const wide = "\U0010ffff" // one code point, two UTF-16 units, four bytes

// bounds has JSON values at the bounds of each field, within and beyond. An empty one
// leaves the field out.
var bounds = map[string]map[string][]string{
	"POST /plants": {
		"id": {"", "null", `"1"`, "1.0", "1e3", "-0", "01", "[]",
			"-9223372036854775809", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "9007199254740993"},
		"name": {"", "null", "7", "[]", `""`, `" "`, `"\u0085"`, `"\u2003"`, `"\u200b"`, `"\u0000"`, `"x"`,
			quoted(wide, 256), quoted(wide, 257), quoted("x", 4096)},
		"tag": {"", "null", "7", "[]", `""`, `" "`, quoted(wide, 256), quoted(wide, 257), quoted("x", 4096)},
	},
}

func quoted(s string, n int) string { return `"` + strings.Repeat(s, n) + `"` }

// The service accepts what the document allows and refuses what it forbids, at the bounds
// of each field. [service.doAsDocumented] compares them.
func TestBounds(t *testing.T) {
	d := openapi.Read()
	for _, op := range d.Operations {
		if op.RequestBody == nil {
			continue
		}
		fields := bounds[op.String()]
		for name := range op.RequestBody.Content.JSON.Schema.AllProperties() {
			if fields[name] == nil {
				t.Errorf("%s: add %s to bounds in api/bounds_test.go", op, name)
			}
		}
		s := newService(t, d, authtest.NewIssuer(t), setup{})
		r, id := op.Request(""), 0
		send := func(change func(body string) string) {
			id++ // so that requests don't depend on each other
			r := r
			r.Body = change(openapi.With(r.Body, "id", fmt.Sprint(id)))
			s.doAsDocumented(t, r)
		}
		for name, values := range fields {
			for _, value := range values {
				send(func(body string) string { return openapi.With(body, name, value) })
			}
			send(func(body string) string { // names are case-sensitive
				var members map[string]json.RawMessage
				json.Unmarshal([]byte(body), &members) // valid
				return openapi.With(openapi.With(body, name, ""), strings.ToUpper(name), string(members[name]))
			})
		}
		for _, size := range []int{op.RequestBody.MaxBytes, op.RequestBody.MaxBytes + 1} {
			send(func(body string) string { return body + strings.Repeat(" ", size-len(body)) })
		}
	}
}

// The same for the parameters. The first value of each is valid, and refused if it is
// given twice.
func TestParameterBounds(t *testing.T) {
	d := openapi.Read()
	s := newService(t, d, authtest.NewIssuer(t), setup{})
	values := map[string][]string{
		"id":      {"-9223372036854775809", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "-0", "01", "+1", "1.0", "x"},
		"limit":   {"1", "", "-1", "0", "01", "+1", "1.0", "2147483647", "2147483648", "x"},
		"cursor":  {"AQAAAAAAAAAH", "", "AQAAAAAAAAA", "AQAAAAAAAAAHA", "AQAAAAAAAAH=", "AgAAAAAAAAAH", "AQ-_AAAAAAAH", "AQ+/AAAAAAAH"},
		"include": {"id", "", "ID", "name"},
	}
	id := 0
	for _, op := range d.Operations {
		send := func(r sent) {
			if id++; r.Body != "" {
				r.Body = openapi.With(r.Body, "id", fmt.Sprint(id)) // else it is in use
			}
			s.doAsDocumented(t, r)
		}
		for _, p := range op.Parameters {
			if values[p.Name] == nil {
				t.Errorf("%s: add %s to values in api/bounds_test.go", op, p.Name)
			}
			for _, value := range values[p.Name] {
				send(op.Request(p.Name, value))
			}
			if p.In != "path" {
				send(op.Request(p.Name, values[p.Name][0], values[p.Name][0]))
			}
		}
	}
}
