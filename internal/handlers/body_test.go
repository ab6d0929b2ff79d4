package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/internal/plants/plantstest"
)

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
// lenient: a body that decodePlant accepts has the members of the plant, with
// the same values.
func FuzzDecodePlant(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"Basil","tag":"herb"}`, `{"id":-9223372036854775808,"name":"\ud83c\udf3f","tag":""}`,
		`{"id":1,"name":"a","x":{"y":1,"y":2}}`, `{"id":1e3,"name":null}`, "\xef\xbb\xbf{}", `{"id":0,"n\u0061me":"a"}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	all := plantstest.Plant(f, 1)
	members := decodeMembers(f, encodePlant(&all, true))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePlant(body)
		if err != nil {
			if f, ok := errors.AsType[*failure](err); !ok || f.code != CodeMalformedBody && f.code != CodeInvalidField {
				t.Errorf("unexpected error for a body: %v", err)
			}
			return
		}
		if err := p.Validate(); err != nil || !utf8.Valid(body) {
			t.Errorf("accepted %q: %v", body, err)
		}
		encoded := encodePlant(&p, true)
		got, want := decodeMembers(t, encoded), decodeMembers(t, body)
		for name := range members {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s is %v, want %v", name, got[name], want[name])
			}
		}
		if again, err := decodePlant(encoded); err != nil || !again.Same(p) || bytes.Contains(encoded, []byte(`\u003c`)) {
			t.Errorf("%+v is encoded as %s", p, encoded)
		}
	})
}

// decodeMembers returns the members of a JSON object. Unlike for a struct,
// encoding/json doesn't ignore the case of names for a map.
func decodeMembers(t testing.TB, body []byte) (members map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return members
}
