package plants_test

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// The tags give each field one name, in JSON and in DynamoDB. They leave an optional field out if
// it is nil, and only then: omitempty in JSON would drop "", and without it DynamoDB gets a NULL.
func TestTags(t *testing.T) {
	for field := range reflect.TypeFor[plants.Plant]().Fields() {
		inJSON, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inItem, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		name := cmp.Or(inJSON, inItem, "…")
		want := fmt.Sprintf(`json:"%s" dynamodbav:"%[1]s"`, name)
		switch {
		case field.Name == "ID":
			want = `json:"-" dynamodbav:"id"`
		case field.Type.Kind() == reflect.Pointer:
			want = fmt.Sprintf(`json:"%s,omitzero" dynamodbav:"%[1]s,omitempty"`, name)
		}
		if string(field.Tag) != want {
			t.Errorf("the field %s has the tags %s, want %s (an optional field is a pointer, even to a slice)",
				field.Name, field.Tag, want)
		}
	}
}
