package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// transport are the headers of HTTP itself, which OpenAPI leaves out.
var transport = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// validateResponse checks an answer by what the document says of its status.
func (d *Document) validateResponse(want *response, method string, resp *http.Response, body []byte) error {
	if err := d.checkHeaders(want, resp); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if method == http.MethodHead {
		if len(body) > 0 {
			return fmt.Errorf("%w: a HEAD has a body", ErrAnswer)
		}
		return nil
	}
	types := resp.Header.Values("Content-Type")
	if want.body == nil {
		if len(body) > 0 || len(types) > 0 {
			return fmt.Errorf("%w: there must be no body, but there are %d bytes of %q", ErrAnswer, len(body), types)
		}
		return nil
	}
	if !slices.Equal(types, []string{mediaType}) {
		return fmt.Errorf("%w: Content-Type is %q", ErrAnswer, types)
	}
	if err := want.body.checkJSON(body); err != nil {
		return fmt.Errorf("%w: the body: %w", ErrAnswer, err)
	}
	return checkCode(resp.StatusCode, body)
}

// checkHeaders checks that all headers are documented, and as they should be.
func (d *Document) checkHeaders(want *response, resp *http.Response) error {
	for name, values := range resp.Header {
		h, documented := want.headers[name]
		switch {
		case !documented && (slices.Contains(transport, name) || slices.Contains(d.FrontHeaders, name)):
		case !documented:
			return fmt.Errorf("status %d has no header %s: %q", resp.StatusCode, name, values)
		case len(values) != 1:
			return fmt.Errorf("%s comes %d times", name, len(values))
		default:
			if err := h.schema.checkText(values[0]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for name, h := range want.headers {
		if h.required && len(resp.Header.Values(name)) == 0 {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

// checkCode checks that the number of an error belongs to its status.
func checkCode(status int, body []byte) error {
	var e struct{ Error *int }
	if status < 400 {
		return nil
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("%w: the body: %w", ErrAnswer, err)
	}
	if e.Error != nil && *e.Error/100 != status {
		return fmt.Errorf("%w: error %d with status %d", ErrAnswer, *e.Error, status)
	}
	return nil
}

// checkJSON checks a body: one JSON value, strictly read, as n has it.
func (n *node) checkJSON(body []byte) error {
	// Duplicate names, invalid UTF-8 and lone surrogates are not valid here.
	if !jsontext.Value(body).IsValid() {
		return fmt.Errorf("it is not one unambiguous JSON value")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := n.compiled.Validate(value); err != nil {
		return err
	}
	return checkDigits(n.compiled, value)
}

// checkText checks what stands in a header, a path or a query.
func (n *node) checkText(s string) error {
	if !n.isInteger() {
		return n.compiled.Validate(s)
	}
	if !isPlain(s) {
		return fmt.Errorf("%q is not an integer in plain digits", s)
	}
	return n.compiled.Validate(json.Number(s))
}

func (n *node) isInteger() bool { return n.value["type"] == "integer" }

// checkDigits checks that the integers in value, which s allows, are written
// in plain digits. To JSON Schema 1.0 is an integer, too.
func checkDigits(s *jsonschema.Schema, value any) error {
	for s.Ref != nil {
		s = s.Ref
	}
	switch value := value.(type) {
	case json.Number:
		if s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer") && !isPlain(value.String()) {
			return fmt.Errorf("%s is not an integer in plain digits", value)
		}
	case []any:
		for _, element := range value {
			if s.Items2020 == nil {
				break
			}
			if err := checkDigits(s.Items2020, element); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, property := range s.Properties {
			if err := checkDigits(property, value[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// isPlain reports whether s is an int64 as everything agrees to write it.
func isPlain(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}
