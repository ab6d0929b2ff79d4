package api_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/api"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/openapi"
)

func parse(t testing.TB) *openapi.Document {
	t.Helper()
	d, err := openapi.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestInfo(t *testing.T) {
	d := parse(t)
	for pointer, want := range map[string]string{
		"/openapi":                 "3.1.0",
		"/info/version":            "1.0.0",
		"/info/license/identifier": "MIT",
	} {
		if got := d.At(pointer); got != want {
			t.Errorf("%s is %v, want %s", pointer, got, want)
		}
	}
	if err := d.CheckExamples(); err != nil {
		t.Error(err)
	}
}

// source returns the syntax tree of a file of package handlers.
func source(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../internal/handlers/"+name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The route table and the document have the same operations. A HEAD is served
// as the GET of its path, which the table doesn't say.
func TestOperations(t *testing.T) {
	var want []string
	ast.Inspect(source(t, "routes.go"), func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || len(row.Elts) != 4 {
			return true
		}
		method, ok := row.Elts[0].(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pattern, err := strconv.Unquote(row.Elts[1].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ToUpper(strings.TrimPrefix(method.Sel.Name, "Method"))
		want = append(want, name+" "+pattern)
		if name == "GET" {
			want = append(want, "HEAD "+pattern)
		}
		return true
	})
	slices.Sort(want)
	if got := parse(t).Operations(); len(want) < 4 || !slices.Equal(got, want) {
		t.Errorf("the document has %q, the route table %q", got, want)
	}
}

// The codes of the service, of the document (three times) and of the README
// are the same.
func TestCodes(t *testing.T) {
	d := parse(t)
	inCode := map[string]int{} // by name
	ast.Inspect(source(t, "errors.go"), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		number, err := strconv.Atoi(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		inCode[strings.TrimPrefix(spec.Names[0].Name, "Code")] = number
		return true
	})
	if len(inCode) == 0 {
		t.Fatal("there are no codes in errors.go")
	}

	numbers, _ := d.At("/components/schemas/ErrorCode/enum").([]any)
	names, _ := d.At("/components/schemas/ErrorCode/x-enum-varnames").([]any)
	inDocument := map[string]int{}
	for i := range min(len(numbers), len(names)) {
		n, err := numbers[i].(json.Number).Int64()
		if err != nil {
			t.Error(err)
		}
		inDocument[names[i].(string)] = int(n)
	}
	if len(numbers) != len(names) || !maps.Equal(inDocument, inCode) {
		t.Errorf("the document has the codes %v, package handlers %v", inDocument, inCode)
	}

	want := slices.Sorted(maps.Values(inCode))
	description, _ := d.At("/components/schemas/ErrorCode/description").(string)
	if got := table(t, description); !slices.Equal(got, want) {
		t.Errorf("the table in the document has %v, want %v", got, want)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := table(t, string(readme)); !slices.Equal(got, want) {
		t.Errorf("the README has %v, want %v", got, want)
	}
}

var row = regexp.MustCompile(`(?m)^\| ([0-9]{5}) \| ([0-9]{3}) \| .+ \|$`)

// table returns the numbers of a table of errors in Markdown.
func table(t *testing.T, text string) (numbers []int) {
	t.Helper()
	for _, cells := range row.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.Atoi(cells[1])
		if status, _ := strconv.Atoi(cells[2]); status != number/100 {
			t.Errorf("%s: the status is not that of the number", cells[0])
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// The document says of a name of one character what the domain says, for all
// characters there are. Its pattern must hold in every dialect, so it names
// them one by one.
func TestNamePattern(t *testing.T) {
	pattern := parse(t).At("/components/schemas/PlantName/pattern").(string)
	re := regexp.MustCompile(regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(pattern, `\x{$1}`))
	for r := range utf8.MaxRune + 1 {
		if !utf8.ValidRune(r) {
			continue
		}
		valid := plants.Plant{Name: string(r)}.Validate() == nil
		if re.MatchString(string(r)) != valid {
			t.Errorf("name %+q: valid is %t, but not to the document", r, valid)
		}
	}
}

// What the document has in prose of the other bounds is what it has in schemas.
func TestBoundsInProse(t *testing.T) {
	text := string(api.Document)
	for pointer, prose := range map[string]string{
		"/paths/~1plants/post/requestBody/x-max-bytes":           "%s bytes",
		"/components/schemas/PlantID/minimum":                    "any integer from %s to",
		"/components/schemas/PlantName/maxLength":                "1 to %s Unicode code points",
		"/components/schemas/PlantTag/maxLength":                 "up to %s Unicode code points",
		"/components/schemas/PlantID/maximum":                    "to %s",
		"/components/parameters/Limit/schema/maximum":            "from 1 to %s in plain digits",
		"/components/parameters/IdempotencyKey/schema/maxLength": "with 1 to %s visible ASCII characters",
	} {
		number := fmt.Sprint(parse(t).At(pointer))
		if !strings.Contains(strings.ReplaceAll(text, "65,536", "65536"), fmt.Sprintf(prose, number)) {
			t.Errorf("the document does not say %q", fmt.Sprintf(prose, number))
		}
	}
}
