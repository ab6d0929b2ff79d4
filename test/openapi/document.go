// Package openapi checks exchanges with the service, each a request and its
// response, against an OpenAPI 3.1 document. It is for tests.
//
// It is stricter than OpenAPI: a response may have only the headers, members and
// error codes that the document lists (codes in its examples), and JSON, query
// strings and integers must follow the rules that the document states in prose.
// HEAD is GET without a body, not an operation of its own.
//
// It uses only a JSON Schema validator, since kin-openapi and
// libopenapi-validator compare int64 as float64 and accept 1.0 and repeated
// parameters.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Document is an OpenAPI document with all references resolved. It is safe
// for concurrent use.
type Document struct {
	// FrontHeaders are the names of the headers that a gateway in front of the
	// service adds to responses. Set them before the first call of Validate.
	FrontHeaders []string `json:"-"`

	// Operations are sorted by method and path.
	Operations []*Operation `json:"-"`

	// Other has the responses to requests that match no operation. OpenAPI
	// itself has no place for them.
	Other          *Operation        `json:"-"`
	OtherResponses map[int]*Response `json:"x-other-responses"`

	Paths      map[string]map[string]*Operation // by path and lower-case method
	Security   []map[string][]string
	Components struct{ Schemas map[string]*Schema }
}

// An Operation is a method of a path.
type Operation struct {
	Method      string `json:"-"`
	Path        string `json:"-"`
	ID          string `json:"operationId"`
	Parameters  []*Parameter
	RequestBody *struct {
		Required bool
		MaxBytes int `json:"x-max-bytes"`
		Content  Content
	}
	Responses map[int]*Response
	Security  []map[string][]string // if absent, that of the document
}

// String returns the method and the path of op.
func (op *Operation) String() string { return op.Method + " " + op.Path }

// A Parameter is a parameter of a request or a header of a response.
type Parameter struct {
	Name, In string
	Required bool
	Schema   *Schema
	Example  any
}

// A Response describes the responses with one status.
type Response struct {
	Headers map[string]*Parameter
	Content Content
	Links   map[string]struct {
		OperationID string
		Parameters  map[string]string // runtime expressions
	}
}

// Content is the content of a request or a response: JSON, or nothing.
type Content struct {
	JSON *struct {
		Schema   *Schema
		Examples map[string]struct{ Value json.RawMessage }
	} `json:"application/json"`
}

// Parse reads an OpenAPI document in YAML. References must be local, and
// schemas must be valid JSON Schema 2020-12.
func Parse(text []byte) (*Document, error) {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	tree, err := resolve(tree, tree, 0)
	if err != nil {
		return nil, err
	}
	asJSON, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	decoder := json.NewDecoder(bytes.NewReader(asJSON))
	decoder.UseNumber()
	if err := decoder.Decode(d); err != nil {
		return nil, err
	}
	d.Other = &Operation{Method: "any", Path: "other request", Responses: d.OtherResponses}
	for path, item := range d.Paths {
		for method, op := range item {
			op.Method, op.Path = strings.ToUpper(method), path
			if op.Security == nil {
				op.Security = d.Security
			}
			d.Operations = append(d.Operations, op)
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int { return cmp.Compare(a.String(), b.String()) })
	return d, nil
}

// resolve returns value, in which each reference is replaced by what it refers
// to in root, such as "#/components/schemas/Plant".
func resolve(root, value any, depth int) (_ any, err error) {
	if depth > 100 {
		return nil, fmt.Errorf("the document has a reference cycle")
	}
	switch v := value.(type) {
	case []any:
		for i := 0; i < len(v) && err == nil; i++ {
			v[i], err = resolve(root, v[i], depth+1)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			target := root
			for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				object, _ := target.(map[string]any)
				target = object[name]
			}
			if target == nil {
				return nil, fmt.Errorf("the document has no %s", ref)
			}
			return resolve(root, target, depth+1)
		}
		for name := range v {
			if v[name], err = resolve(root, v[name], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return value, err
}
