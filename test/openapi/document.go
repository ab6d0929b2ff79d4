// Package openapi holds exchanges with the service, each a request and its
// answer, to the OpenAPI document of package api. It is for tests alone.
//
// It is stricter than OpenAPI where the service is: in an answer every header
// and every member must be documented, and what the document says in prose of
// JSON, of query strings and of plain digits counts like its schemas.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// A Document is an OpenAPI document, ready to validate exchanges. Its methods
// can be called from any goroutine.
type Document struct {
	// FrontHeaders are the names of headers that answers may have beyond those
	// of the document, since what stands in front of the service adds them:
	// "Apigw-Requestid". Set them before the first exchange.
	FrontHeaders []string

	root       map[string]any
	operations []*operation
	others     map[int]*response // to requests that are no operation, by status
}

// An operation is a method of a path.
type operation struct {
	method, path string
	parameters   []parameter
	body         *node // the schema of the request's body, nil if it has none
	maxBody      int   // bytes
	responses    map[int]*response
}

type parameter struct {
	name, in string
	required bool
	schema   *node
}

// A response is what the document says of a status.
type response struct {
	headers map[string]parameter // by canonical name
	body    *node                // the schema, nil if there is no body
}

// A node is a schema of the document.
type node struct {
	value    map[string]any
	compiled *jsonschema.Schema
}

// Parse reads an OpenAPI document in YAML. It fails if a reference leads
// nowhere, or a schema is not one of JSON Schema 2020-12.
func Parse(text []byte) (*Document, error) {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	// Through JSON, the numbers are of the one type that the validator knows.
	asJSON, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("not everything in it can be said in JSON: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is not an object")
	}
	closed, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	closeObjects(closed)
	return read(root, newCompiler(value), newCompiler(closed))
}

// newCompiler returns a compiler of the schemas in doc.
func newCompiler(doc any) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(compileRegexp)
	if err := c.AddResource(resource, doc); err != nil {
		panic(err) // only a bad URL or a second resource of that name would be
	}
	return c
}

// resource is the name of the document among schemas. Nothing is fetched from
// that address.
const resource = "https://example.com/openapi"

var unicodeEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)

// compileRegexp reads an expression of ECMA-262, as far as documents have it.
func compileRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(unicodeEscape.ReplaceAllString(s, `\x{$1}`))
	return re, err
}

// closeObjects makes the schemas within v refuse the members that they don't
// know.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			closeObjects(element)
		}
	case map[string]any:
		_, isSchema := v["properties"]
		if _, open := v["additionalProperties"]; isSchema && !open && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			closeObjects(member)
		}
	}
}

// Operations returns the operations, such as "GET /plants", sorted.
func (d *Document) Operations() []string {
	var all []string
	for _, op := range d.operations {
		all = append(all, op.method+" "+op.path)
	}
	slices.Sort(all)
	return all
}

// At returns what stands at the JSON pointer, references followed all the way,
// or nil if there is nothing: a map[string]any, a []any, a string, a bool or a
// json.Number. Callers must not change it.
func (d *Document) At(pointer string) any {
	value, _, err := follow(d.root, pointer)
	if err != nil {
		return nil
	}
	return value
}

// follow returns what stands at the JSON pointer within root and, after all
// references, the pointer to where it stands.
func follow(root map[string]any, pointer string) (value any, at string, err error) {
	value = root
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch parent := value.(type) {
		case map[string]any:
			value = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, "", fmt.Errorf("%s: the array has no %s", pointer, token)
			}
			value = parent[i]
		default:
			value = nil
		}
		at += "/" + token
		if m, ok := value.(map[string]any); ok && m["$ref"] != nil {
			target, _ := m["$ref"].(string)
			here, ok := strings.CutPrefix(target, "#")
			if !ok {
				return nil, "", fmt.Errorf("%s: a reference must lead to this document, unlike %v", at, m["$ref"])
			}
			if value, at, err = follow(root, here); err != nil {
				return nil, "", err
			}
		}
	}
	if value == nil {
		return nil, "", fmt.Errorf("there is no %s", pointer)
	}
	return value, at, nil
}

// escape returns name as a token of a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// compile returns the schema at the pointer.
func compile(c *jsonschema.Compiler, pointer string, value map[string]any) (*node, error) {
	schema, err := c.Compile(resource + "#" + (&url.URL{Fragment: pointer}).EscapedFragment())
	if err != nil {
		return nil, fmt.Errorf("the schema %s: %w", pointer, err)
	}
	return &node{value, schema}, nil
}

// members returns the names in an object, sorted; none if v is no object.
func members(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}
