package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	if bodies := op.bodies(); bodies != nil {
		r.Body = bodies[0]
	}
	return r
}

// Requests returns a valid request of op for each example of its body.
func (op *Operation) Requests() (all []Request) {
	for _, body := range op.bodies() {
		r := op.Request("")
		r.Body = body
		all = append(all, r)
	}
	return all
}

// bodies returns the examples of op's body, in the order of their names.
func (op *Operation) bodies() (all []string) {
	if op.RequestBody == nil {
		return nil
	}
	examples := op.RequestBody.Content.Examples()
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		all = append(all, string(examples[name]))
	}
	return all
}

// With returns a JSON object with another value of a member, or with one more member, or
// without it if value is empty. The other members keep their order. The value need not be
// JSON.
func With(object, name, value string) string {
	var members []string
	add := func(name, value string) {
		if value != "" {
			quoted, _ := json.Marshal(name)
			members = append(members, string(quoted)+":"+value)
		}
	}
	old := jsontext.NewDecoder(strings.NewReader(object))
	old.ReadToken() // the object is valid
	for old.PeekKind() == '"' {
		token, _ := old.ReadToken()
		member := token.String()
		text, _ := old.ReadValue()
		if member == name {
			add(name, value)
			value = ""
		} else {
			add(member, string(text))
		}
	}
	add(name, value)
	return "{" + strings.Join(members, ",") + "}"
}
