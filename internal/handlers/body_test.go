package handlers

import (
	"encoding/json"
	"testing"

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
		"count":  {`-0`, `count must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits`},
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
