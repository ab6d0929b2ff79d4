package records_test

import (
	"reflect"
	"testing"

	"example.com/plantstore/internal/records"
)

func TestParseTag(t *testing.T) {
	for tag, want := range map[reflect.StructTag]struct {
		name     string
		optional bool
	}{
		`json:"name"`:                             {"name", false},
		`json:"tag,omitzero"`:                     {"tag", true},
		`json:"at,format:RFC3339,omitzero"`:       {"at", true},
		`json:"omitzero"`:                         {"omitzero", false},
		`json:"note,omitempty" other:",omitzero"`: {"note", false},
	} {
		if name, optional := records.ParseTag(tag); name != want.name || optional != want.optional {
			t.Errorf("%s: %q, %t, want %v", tag, name, optional, want)
		}
	}
}
