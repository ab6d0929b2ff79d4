package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/plants"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// A plantBody is a plant as JSON: the Plant shape of api/openapi.yaml, with the
// id if the client asked for it. To add a field, add it here and to encodePlant
// and decodePlant.
type plantBody struct {
	ID   *int64  `json:"id,omitzero"`
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// encodePlant returns p as a line of JSON.
func encodePlant(p *plants.Plant, withID bool) []byte {
	b := plantBody{Name: p.Name, Tag: p.Tag}
	if withID {
		b.ID = &p.ID
	}
	return encode(b)
}

// decodePlant reads and validates a NewPlant. The JSON must be unambiguous (RFC
// 8259, RFC 7493): UTF-8 without a byte order mark, no duplicate names at any
// depth, no lone surrogates, nothing after the object. Names are case-sensitive,
// and unknown names are ignored.
func decodePlant(body []byte) (p plants.Plant, err error) {
	// Raw values distinguish null from absent, and 1.0 from 1.
	var fields struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	err = json.Unmarshal(body, &fields)
	if err != nil || jsontext.Value(body).Kind() != '{' { // Unmarshal accepts null
		return p, failf(CodeMalformedBody, "the body must be one JSON object%s", explain(body, err))
	}
	var ok bool
	if p.ID, ok = parseInt64(string(fields.ID)); !ok {
		return p, failf(CodeInvalidField, "id is required and must be %s", int64Rule)
	}
	name, err := decodeString("name", fields.Name)
	if err != nil {
		return p, err
	}
	if name == nil {
		return p, failf(CodeInvalidField, "name is required")
	}
	p.Name = *name
	if p.Tag, err = decodeString("tag", fields.Tag); err != nil {
		return p, err
	}
	if err := p.Validate(); err != nil {
		return p, failf(CodeInvalidField, "%s", err)
	}
	return p, nil
}

// int64Rule says what parseInt64 accepts.
var int64Rule = fmt.Sprintf("an integer from %d to %d in plain digits", int64(math.MinInt64), int64(math.MaxInt64))

// parseInt64 parses an int64 in its canonical decimal form: no plus sign, no
// leading zeros, no -0, no fraction, no exponent.
func parseInt64(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// decodeString returns the string v, or nil if v is absent.
func decodeString(field string, v jsontext.Value) (*string, error) {
	if v == nil {
		return nil, nil
	}
	if v.Kind() != '"' {
		return nil, failf(CodeInvalidField, "%s must be a string", field)
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return nil, failf(CodeMalformedBody, "%s is not a valid JSON string", field)
	}
	return new(string(b)), nil
}

// explain returns the end of the error message for a malformed body.
func explain(body []byte, err error) string {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return ""
	}
	fault, rest := "invalid syntax", body[syntax.ByteOffset:]
	char, size := utf8.DecodeRune(rest)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		fault = "duplicate name " + excerpt(syntax.JSONPointer.LastToken())
	case errors.Is(err, io.ErrUnexpectedEOF):
		fault = "unexpected end"
	case char == utf8.RuneError && size == 1:
		fault = "invalid UTF-8"
	case bytes.HasPrefix(rest, []byte("\ufeff")):
		fault = "byte order mark"
	}
	return fmt.Sprintf(": %s at byte offset %d", fault, syntax.ByteOffset)
}

// checkMediaType returns an error if h declares a body that is not plain JSON
// in UTF-8. A missing or empty header is fine.
func checkMediaType(h http.Header) error {
	for _, v := range h.Values("Content-Encoding") {
		if v != "" && !strings.EqualFold(v, "identity") {
			return failf(CodeUnsupportedType, "Content-Encoding must be identity or absent, not %s", excerpt(v))
		}
	}
	v := strings.Join(h.Values("Content-Type"), ", ")
	if v == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(v)
	if err != nil || mediaType != "application/json" {
		return failf(CodeUnsupportedType, "Content-Type must be application/json, not %s", excerpt(v))
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return failf(CodeUnsupportedType, "charset must be UTF-8, not %s", excerpt(charset))
	}
	return nil
}

// readBody reads the body of r, which handle has limited to maxBody.
func readBody(r *request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, failf(CodeBodyTooLarge, "the body must have at most %d bytes", maxBody)
	}
	if err != nil {
		return nil, failf(CodeBadRequest, "the body is incomplete")
	}
	return body, nil
}

// encode returns v as a line of JSON. Strings are escaped only where JSON
// requires it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every string was validated as UTF-8
	}
	return append(b, '\n')
}
