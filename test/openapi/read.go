package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A reader turns the tree of a document into operations. After its first error
// it goes on with zero values.
type reader struct {
	root         map[string]any
	open, closed *jsonschema.Compiler // of requests, and of answers
	err          error
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// otherResponses are those to requests that are no operation of the document,
// by status. OpenAPI has no place for them.
const otherResponses = "/x-other-responses"

func read(root map[string]any, open, closed *jsonschema.Compiler) (*Document, error) {
	r := &reader{root: root, open: open, closed: closed}
	d := &Document{root: root, others: r.responses(otherResponses)}
	for _, path := range members(root["paths"]) {
		item := "/paths/" + escape(path)
		for _, method := range members(r.at(item)) {
			if !slices.Contains(methods, method) {
				r.fail("%s/%s: only methods can stand here", item, method)
				continue
			}
			op := r.operation(item + "/" + method)
			op.method, op.path = strings.ToUpper(method), path
			d.operations = append(d.operations, op)
		}
	}
	for _, name := range members(d.At("/components/schemas")) {
		r.schema(r.closed, "/components/schemas/"+name)
	}
	return d, r.err
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) at(pointer string) map[string]any {
	value, _, err := follow(r.root, pointer)
	if err != nil {
		r.fail("%w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		r.fail("%s is not an object", pointer)
	}
	return object
}

func (r *reader) operation(pointer string) *operation {
	value := r.at(pointer)
	op := &operation{responses: r.responses(pointer + "/responses")}
	parameters, _ := value["parameters"].([]any)
	for i := range parameters {
		p := r.parameter(r.open, pointer+"/parameters/"+strconv.Itoa(i))
		op.parameters = append(op.parameters, p)
	}
	if value["requestBody"] != nil {
		op.body = r.content(r.open, pointer+"/requestBody")
		bound, _ := r.at(pointer + "/requestBody")["x-max-bytes"].(json.Number)
		n, err := bound.Int64()
		if err != nil {
			r.fail("%s/requestBody: x-max-bytes must say how large a body can be", pointer)
		}
		op.maxBody = int(n)
	}
	return op
}

// parameter reads a parameter, or a header of an answer.
func (r *reader) parameter(c *jsonschema.Compiler, pointer string) parameter {
	value := r.at(pointer)
	p := parameter{schema: r.schema(c, pointer+"/schema")}
	p.name, _ = value["name"].(string)
	p.in, _ = value["in"].(string)
	p.required, _ = value["required"].(bool)
	return p
}

func (r *reader) responses(pointer string) map[int]*response {
	all := map[int]*response{}
	for key := range r.at(pointer) {
		status, err := strconv.Atoi(key)
		if err != nil {
			r.fail("%s/%s: each status must be named", pointer, key)
			continue
		}
		here := pointer + "/" + key
		resp := &response{headers: map[string]parameter{}}
		value := r.at(here)
		for _, name := range members(value["headers"]) {
			resp.headers[http.CanonicalHeaderKey(name)] = r.parameter(r.closed, here+"/headers/"+name)
		}
		if value["content"] != nil {
			resp.body = r.content(r.closed, here)
		}
		all[status] = resp
	}
	return all
}

// mediaType is the only one that the service takes and gives.
const mediaType = "application/json"

func (r *reader) content(c *jsonschema.Compiler, pointer string) *node {
	pointer += "/content"
	if got := members(r.at(pointer)); !slices.Equal(got, []string{mediaType}) {
		r.fail("%s has the media types %q; only %s can be checked", pointer, got, mediaType)
		return nil
	}
	return r.schema(c, pointer+"/"+escape(mediaType)+"/schema")
}

func (r *reader) schema(c *jsonschema.Compiler, pointer string) *node {
	value, at, err := follow(r.root, pointer)
	if err != nil {
		r.fail("%w", err)
		return nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		r.fail("%s is not an object", at)
		return nil
	}
	n, err := compile(c, at, object)
	if err != nil {
		r.fail("%w", err)
	}
	return n
}
