// Package openapi checks exchanges with the service, each a request and its
// response, against api/openapi.yaml. It is for tests.
//
// A response may contain only the headers that the document lists and the error codes in
// its examples. JSON, query strings and integers must follow the rules that the document
// states in prose. HEAD counts as GET without a body.
//
// The package uses only a JSON Schema validator, since kin-openapi and
// libopenapi-validator compare int64 as float64 and accept 1.0 and repeated parameters.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"example.com/plantstore/api"
)

// A Document is an OpenAPI document with all references resolved. It is safe
// for concurrent use.
type Document struct {
	// Operations are sorted by method and path.
	Operations []*Operation `json:"-"`

	// Other contains the responses to requests that match no operation. OpenAPI
	// itself has no place for them.
	Other          *Operation        `json:"-"`
	OtherResponses map[int]*Response `json:"x-other-responses"`

	Paths map[string]map[string]*Operation // by path and lower-case method

	seen map[part]bool // see Missing
	mu   sync.Mutex    // for seen
}

// An Operation is a method of a path.
type Operation struct {
	Method      string `json:"-"`
	Path        string `json:"-"`
	OperationID string
	Summary     string
	Description string
	Parameters  []*Parameter
	RequestBody *struct {
		MaxBytes int `json:"x-max-bytes"`
		Content  Content
	}
	Responses map[int]*Response
	Security  []map[string][]string
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
	Headers  map[string]*Parameter
	Content  Content
	MaxBytes int `json:"x-max-bytes"` // of a list
}

// Content is the content of a request or a response: JSON, or nothing.
type Content struct {
	JSON *struct {
		Schema   *Schema
		Examples map[string]struct{ Value json.RawMessage }
	} `json:"application/json"`
}

// Read returns api/openapi.yaml. It panics if a reference has no target or a
// schema is not valid JSON Schema 2020-12.
func Read() *Document {
	var root yaml.Node
	if err := yaml.Unmarshal(api.Document, &root); err != nil {
		panic(err)
	}
	d := &Document{seen: map[part]bool{}}
	decoder := json.NewDecoder(bytes.NewReader(appendJSON(nil, root.Content[0], root.Content[0])))
	decoder.UseNumber()
	if err := decoder.Decode(d); err != nil {
		panic(err)
	}
	d.Other = &Operation{Method: "any", Path: "other request", Responses: d.OtherResponses}
	for path, item := range d.Paths {
		for method, op := range item {
			op.Method, op.Path = strings.ToUpper(method), path
			d.Operations = append(d.Operations, op)
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int { return cmp.Compare(a.String(), b.String()) })
	return d
}

// appendJSON appends node as JSON, keeping the order of members. It replaces each
// reference, such as "#/components/schemas/Plant", with its target in root.
func appendJSON(b []byte, root, node *yaml.Node) []byte {
	switch node.Kind {
	case yaml.MappingNode:
		if ref := member(node, "$ref"); ref != nil {
			target := root
			for name := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
				if target = member(target, name); target == nil {
					panic("api/openapi.yaml has no " + ref.Value)
				}
			}
			return appendJSON(b, root, target)
		}
		b = append(b, '{')
		for i := 0; i < len(node.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			name, _ := json.Marshal(node.Content[i].Value)
			b = appendJSON(append(append(b, name...), ':'), root, node.Content[i+1])
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, element := range node.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, root, element)
		}
		return append(b, ']')
	case yaml.AliasNode:
		return appendJSON(b, root, node.Alias)
	}
	var value any
	if err := node.Decode(&value); err != nil {
		panic(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

// member returns the value of a mapping's member, or nil.
func member(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}
