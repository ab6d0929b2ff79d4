package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
)

// The document has the operations of the route table.
func TestOperations(t *testing.T) {
	var documented, served []string
	for _, op := range parse(t).Operations {
		documented = append(documented, op.String())
	}
	for _, rt := range handlers.Routes() {
		served = append(served, rt.Method+" "+rt.Pattern)
	}
	compare(t, "operation", documented, served, "api/openapi.yaml under paths", "internal/handlers/routes.go")
}

// compare reports the differences between the things of one kind that are
// documented and those that are served, and the places to add them to.
func compare[T comparable](t *testing.T, kind string, documented, served []T, document, code string) {
	t.Helper()
	for _, v := range served {
		if !slices.Contains(documented, v) {
			t.Errorf("the %s %v is undocumented: add it to %s", kind, v, document)
		}
	}
	for _, v := range documented {
		if !slices.Contains(served, v) {
			t.Errorf("the %s %v doesn't exist: remove it from %s, or add it to %s", kind, v, document, code)
		}
	}
}

// The document has every field of a plant.
func TestFields(t *testing.T) {
	schemas := parse(t).Components.Schemas
	for _, schema := range []string{"Plant", "NewPlant", "ListedPlant"} {
		var properties, fields []string
		for name := range schemas[schema].AllProperties() {
			properties = append(properties, strings.ReplaceAll(name, "_", ""))
		}
		for _, field := range reflect.VisibleFields(reflect.TypeFor[plants.Plant]()) {
			if field.Name != "ID" || schema != "Plant" {
				fields = append(fields, strings.ToLower(field.Name))
			}
		}
		compare(t, "field of "+schema, properties, fields,
			"api/openapi.yaml under components/schemas/Plant/properties", "internal/plants/plants.go")
	}
}

var (
	codeRow      = regexp.MustCompile(`(?m)^ *\| ([0-9]{5}) \| ([0-9]{3}) \| .+ \|$`)
	codeConstant = regexp.MustCompile(`(?m)^\tCode\w+ +Code = (\d+)`)
)

// The service, the examples, and each table of error codes have the same codes.
func TestCodes(t *testing.T) {
	const source = "internal/handlers/errors.go"
	code, err := os.ReadFile("../" + source)
	if err != nil {
		t.Fatal(err)
	}
	var served, shown []int
	for _, constant := range codeConstant.FindAllSubmatch(code, -1) {
		n, _ := strconv.Atoi(string(constant[1]))
		served = append(served, n)
	}
	d := parse(t)
	for _, op := range append(d.Operations, d.Other) {
		for _, resp := range op.Responses {
			shown = append(shown, resp.Codes()...)
		}
	}
	if d.Components.Schemas["ErrorCode"].Enum != nil {
		t.Error("ErrorCode in api/openapi.yaml has an enum: remove it, because clients with closed enums fail on new codes")
	}
	compare(t, "error", shown, served, "the examples of a response in api/openapi.yaml", source)
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "../README.md", "openapi.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var listed []int
		for _, row := range codeRow.FindAllStringSubmatch(string(text), -1) {
			code, _ := strconv.Atoi(row[1])
			listed = append(listed, code)
			if row[2] != fmt.Sprint(code/100) {
				t.Errorf("%s: the status of %s is not its first three digits", name, row[0])
			}
		}
		if listed != nil || name == "openapi.yaml" {
			compare(t, "error", listed, served, "the table of errors in "+name, source)
		}
	}
}

// For names of one character, the pattern in the document agrees with the
// domain. It lists the characters because not every dialect of regular
// expressions has a class for them.
func TestNamePattern(t *testing.T) {
	pattern := parse(t).Components.Schemas["PlantName"].Pattern
	for r := range utf8.MaxRune + 1 {
		if !utf8.ValidRune(r) {
			continue
		}
		if valid := (plants.Plant{Name: string(r)}).Validate() == nil; pattern.MatchString(string(r)) != valid {
			t.Errorf("the name %+q: valid is %t; change the pattern of PlantName in api/openapi.yaml", r, valid)
		}
	}
}
