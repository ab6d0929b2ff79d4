package openapi

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// checkRequest returns the first rule of the document that a request breaks.
func (op *operation) checkRequest(req *http.Request, body []byte) error {
	// Tests send names of headers in any case.
	header := http.Header{}
	for name, values := range req.Header {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	if err := checkToken(header); err != nil {
		return err
	}
	for _, p := range op.parameters {
		values, err := op.values(p, req, header)
		if err != nil {
			return err
		}
		if err := p.check(values); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if op.body == nil {
		return nil
	}
	if len(body) > op.maxBody {
		return fmt.Errorf("the body has %d bytes, want %d at most", len(body), op.maxBody)
	}
	if err := checkMediaType(header); err != nil {
		return err
	}
	if err := op.body.checkJSON(body); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// checkToken checks that there is a bearer token; only the service knows
// whether it is a good one.
func checkToken(header http.Header) error {
	values := header.Values("Authorization")
	if len(values) != 1 {
		return fmt.Errorf("there are %d Authorization headers", len(values))
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") || strings.Trim(token, " ") == "" {
		return fmt.Errorf("there is no bearer token in the Authorization header")
	}
	return nil
}

// values returns the values of a parameter in a request.
func (op *operation) values(p parameter, req *http.Request, header http.Header) ([]string, error) {
	switch p.in {
	case "path":
		want, got := strings.Split(op.path, "/"), strings.Split(req.URL.Path, "/")
		return []string{got[slices.Index(want, "{"+p.name+"}")]}, nil
	case "query":
		query, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			return nil, fmt.Errorf("the query string does not parse: %w", err)
		}
		return query[p.name], nil
	case "header":
		return header.Values(p.name), nil
	}
	return nil, fmt.Errorf("nothing is known of parameters in %q", p.in)
}

// check checks the values of p in a request.
func (p parameter) check(values []string) error {
	switch {
	case len(values) == 0 && p.required:
		return fmt.Errorf("it is missing")
	case len(values) == 0:
		return nil
	case len(values) > 1:
		return fmt.Errorf("it is given %d times", len(values))
	}
	return p.schema.checkText(values[0])
}

// checkMediaType checks that a body says of itself that it is plain JSON in
// UTF-8, or nothing.
func checkMediaType(header http.Header) error {
	for _, encoding := range header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return fmt.Errorf("the Content-Encoding is %q", encoding)
		}
	}
	types := strings.Join(header.Values("Content-Type"), ", ")
	if types == "" {
		return nil
	}
	got, params, err := mime.ParseMediaType(types)
	if err != nil || got != mediaType {
		return fmt.Errorf("the Content-Type is %q", types)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fmt.Errorf("the charset is %q", charset)
	}
	return nil
}
