package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records/recordstest"
)

// A field of any kind has the same JSON in requests and in responses.
func TestKindsOfFields(t *testing.T) {
	r := recordstest.New[recordstest.Sample](t, 1)
	for _, want := range append(recordstest.Variants(t, r), r) {
		body := encode(want)
		got, err := decodeRecord[recordstest.Sample](body)
		if d := recordstest.Difference(got, want); err != nil || d != "" {
			t.Fatalf("decodeRecord(%s): %v, %s", body, err, d)
		}
	}
}

// null, and values of other types, are refused with the type that the field has.
func TestTypesOfFields(t *testing.T) {
	for field, test := range map[string]struct{ wrong, want string }{
		"name":   {`1`, `name must be a string`},
		"note":   {`{}`, `note must be a string`},
		"count":  {`1.0`, `count must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits`},
		"done":   {`"true"`, `done must be true or false`},
		"at":     {`"today"`, `at must be like "0001-01-01T00:00:00Z"`},
		"parts":  {`[1]`, `parts must be like []`},
		"labels": {`[]`, `labels must be like {}`},
	} {
		for _, value := range []string{"null", test.wrong} {
			body := encode(recordstest.New[recordstest.Sample](t, 1))
			var members map[string]json.RawMessage
			if err := json.Unmarshal(body, &members); err != nil {
				t.Fatal(err)
			}
			members[field] = json.RawMessage(value)
			body, _ = json.Marshal(members)
			if _, err := decodeRecord[recordstest.Sample](body); err == nil || err.Error() != test.want {
				t.Errorf("%s %s: %v, want %s", field, value, err, test.want)
			}
		}
	}
}

// FuzzDecodeRecord compares decodeRecord with encoding/json, which is more
// lenient: a body that decodeRecord accepts has the members of the plant, with
// the same values.
func FuzzDecodeRecord(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"Basil","tag":"herb"}`, `{"id":-9223372036854775808,"name":"\ud83c\udf3f","tag":""}`,
		`{"id":1,"name":"a","x":{"y":1,"y":2}}`, `{"id":1e3,"name":null}`, "\xef\xbb\xbf{}", `{"id":0,"n\u0061me":"a"}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	members := decodeMembers(f, encode(recordstest.New[plants.Plant](f, 1)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeRecord[plants.Plant](body)
		if err != nil {
			if f, ok := errors.AsType[*failure](err); !ok || f.code != CodeMalformedBody && f.code != CodeInvalidField {
				t.Errorf("unexpected error for a body: %v", err)
			}
			return
		}
		if err := r.Fields.Validate(); err != nil || !utf8.Valid(body) {
			t.Errorf("accepted %q: %v", body, err)
		}
		encoded := encode(r)
		got, want := decodeMembers(t, encoded), decodeMembers(t, body)
		for name := range members {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s is %v, want %v", name, got[name], want[name])
			}
		}
		if again, err := decodeRecord[plants.Plant](encoded); err != nil || !reflect.DeepEqual(again, r) || bytes.Contains(encoded, []byte(`\u003c`)) {
			t.Errorf("%+v is encoded as %s", r, encoded)
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
