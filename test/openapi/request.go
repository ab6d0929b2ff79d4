package openapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// A Request is a request without a token.
type Request struct {
	Method, Target, Body string
	Header               []string // names and values
}

// Request returns a valid request of op with its required parameters and its
// first body, made of the document's examples. If op has the parameter name, that
// has the given values.
func (op *Operation) Request(name string, values ...string) Request {
	r := Request{Method: op.Method, Target: op.Path}
	query := url.Values{}
	for _, p := range op.Parameters {
		var given []string
		switch {
		case p.Name == name:
			given = values
		case p.Required:
			given = []string{fmt.Sprint(p.Example)}
		}
		for _, value := range given {
			switch p.In {
			case "path":
				r.Target = strings.ReplaceAll(r.Target, "{"+p.Name+"}", url.PathEscape(value))
			case "query":
				query.Add(p.Name, value)
			case "header":
				r.Header = append(r.Header, p.Name, value)
			}
		}
	}
	if len(query) > 0 {
		r.Target += "?" + query.Encode()
	}
	if op.RequestBody != nil {
		examples := op.RequestBody.Content.Examples()
		r.Body = string(examples[slices.Min(slices.Collect(maps.Keys(examples)))])
	}
	return r
}
