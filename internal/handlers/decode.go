package handlers

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/plants"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 64 << 10

// maxKey is the greatest length of an Idempotency-Key, in bytes.
const maxKey = 255

// checkMediaType refuses a body that says it is something else than plain JSON
// in UTF-8. Saying nothing is fine.
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

// writeToken returns the write token of r: by its Idempotency-Key if it has
// one, else a random one.
func writeToken(r *request) (plants.WriteToken, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return plants.NewWriteToken(), nil
	}
	// A comma may be two headers that a gateway has joined.
	invisible := func(c rune) bool { return c <= ' ' || c > '~' || c == ',' }
	if len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKey || strings.ContainsFunc(keys[0], invisible) {
		return "", failf(CodeInvalidKey, "Idempotency-Key must be given once, with 1 to %d visible ASCII characters and no comma", maxKey)
	}
	return plants.KeyedWriteToken(r.caller.Subject, keys[0]), nil
}

// readBody returns the whole body of r, whose size ServeHTTP has bounded.
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

// decodePlant reads a NewPlant. The JSON must be what RFC 8259 and RFC 7493
// call unambiguous: UTF-8 without a byte order mark, no name twice at any
// depth, no lone surrogates, nothing after the object. Names are matched
// exactly, and unknown ones ignored.
func decodePlant(body []byte) (plants.Plant, error) {
	// Left as they stand, values tell null from absent, and 1.0 from 1.
	var fields struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	err := json.Unmarshal(body, &fields)
	if err != nil || jsontext.Value(body).Kind() != '{' { // null is no error
		return plants.Plant{}, failf(CodeMalformedBody, "the body must be one JSON object%s", explain(body, err))
	}
	var p plants.Plant
	var ok bool
	if p.ID, ok = parseInt64(string(fields.ID)); !ok {
		return plants.Plant{}, failf(CodeInvalidField, "id is required and must be %s", int64Rule)
	}
	name, err := decodeString("name", fields.Name)
	if err != nil {
		return plants.Plant{}, err
	}
	if name == nil {
		return plants.Plant{}, failf(CodeInvalidField, "name is required")
	}
	p.Name = *name
	if p.Tag, err = decodeString("tag", fields.Tag); err != nil {
		return plants.Plant{}, err
	}
	if err := p.Validate(); err != nil {
		return plants.Plant{}, failf(CodeInvalidField, "%s", err)
	}
	return p, nil
}

// int64Rule says what parseInt64 takes.
const int64Rule = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"

// parseInt64 reads an int64 that is written the one way that JSON, paths and
// people agree on: no plus, no leading zero, no -0, no fraction, no exponent.
func parseInt64(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// decodeString returns the string that v is, or nil if v is absent.
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
	s := string(b)
	return &s, nil
}

// explain says what is wrong with the syntax of a body, as far as that helps
// its author.
func explain(body []byte, err error) string {
	if !utf8.Valid(body) {
		return ": invalid UTF-8"
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return ": duplicate name in an object"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ": unexpected end"
	}
	if _, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return ": invalid syntax"
	}
	return ""
}
