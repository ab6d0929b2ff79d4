package openapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// checkRequest returns the first violation of the document in a request.
func (op *Operation) checkRequest(req *http.Request, body []byte) error {
	header := http.Header{}
	for name, values := range req.Header { // tests send names in any case
		for _, value := range values {
			header.Add(name, value)
		}
	}
	if len(op.Security) > 0 && header.Get("Authorization") == "" {
		return fmt.Errorf("the request has no token")
	}
	for _, p := range op.Parameters {
		values, err := op.values(p, req, header)
		if err != nil {
			return err
		}
		if err := p.check(values); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if op.RequestBody == nil || len(body) == 0 && !op.RequestBody.Required {
		return nil
	}
	if len(body) > op.RequestBody.MaxBytes {
		return fmt.Errorf("the body has %d bytes, more than %d", len(body), op.RequestBody.MaxBytes)
	}
	if err := op.RequestBody.Content.JSON.Schema.checkJSON(body, false); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// values returns the values of p in a request to op.
func (op *Operation) values(p *Parameter, req *http.Request, header http.Header) ([]string, error) {
	switch p.In {
	case "path":
		want, got := strings.Split(op.Path, "/"), strings.Split(req.URL.Path, "/")
		return []string{got[slices.Index(want, "{"+p.Name+"}")]}, nil
	case "query":
		query, err := url.ParseQuery(req.URL.RawQuery)
		return query[p.Name], err
	case "header":
		return header.Values(p.Name), nil
	}
	return nil, fmt.Errorf("parameters in %q are not supported: add them to test/openapi/request.go", p.In)
}

// check checks the values of a parameter or a header.
func (p *Parameter) check(values []string) error {
	switch {
	case len(values) > 1:
		return fmt.Errorf("given %d times", len(values))
	case len(values) == 1:
		return p.Schema.checkText(values[0])
	case p.Required:
		return fmt.Errorf("missing")
	}
	return nil
}
