package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

// code returns the code of err, which must be a failure, or 0 if err is nil.
func code(t testing.TB, err error) Code {
	t.Helper()
	if err == nil {
		return 0
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		t.Fatalf("%v is not a failure", err)
	}
	return f.code
}

func TestEveryFieldHasJSON(t *testing.T) {
	p := plantstest.Plant(t, 1)
	for _, want := range append(plantstest.Variants(t, p), p) {
		body := bytes.TrimSpace(encodePlant(&want, true))
		got, err := decodePlant(body)
		if err != nil {
			t.Fatalf("decodePlant(%s): %v", body, err)
		}
		if d := plantstest.Difference(got, want); d != "" {
			t.Fatalf("decodePlant(%s): %s; add the field to plantBody, encodePlant and decodePlant in internal/handlers/body.go", body, d)
		}
	}
}

// FuzzDecodePlant compares decodePlant with encoding/json, which is more
// lenient: it must read the bodies that decodePlant accepts in the same way.
func FuzzDecodePlant(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"Basil","tag":"herb"}`, `{"id":-9223372036854775808,"name":"\ud83c\udf3f","tag":""}`,
		`{"id":1,"name":"a","x":{"y":1,"y":2}}`, `{"id":1e3,"name":null}`, "\xef\xbb\xbf{}", `{"id":0,"n\u0061me":"a"}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePlant(body)
		if err != nil {
			if c := code(t, err); c != CodeMalformedBody && c != CodeInvalidField {
				t.Errorf("unexpected error %d for a body", c)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Errorf("accepted, but %v", err)
		}
		// Unlike a struct, a map does not ignore case.
		var fields map[string]json.RawMessage
		if !utf8.Valid(body) || json.Unmarshal(body, &fields) != nil {
			t.Fatalf("accepted, but not JSON: %q", body)
		}
		want := plants.Plant{ID: p.ID + 1}
		for name, v := range map[string]any{"id": &want.ID, "name": &want.Name, "tag": &want.Tag} {
			if raw, ok := fields[name]; ok && (json.Unmarshal(raw, v) != nil || string(raw) == "null") {
				t.Errorf("accepted, but %s is %s", name, raw)
			}
		}
		if d := plantstest.Difference(p, want); d != "" {
			t.Error(d)
		}
		out := encodePlant(&p, true)
		if again, err := decodePlant(out); err != nil || !again.Same(p) || bytes.Contains(out, []byte(`\u003c`)) {
			t.Errorf("%+v is encoded as %s", p, out)
		}
	})
}
