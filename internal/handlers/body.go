package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/excerpt"
	"example.com/plantstore/internal/plants"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// checkMediaType returns an error if h declares a body that is not plain JSON
// in UTF-8. A missing or empty header is fine.
func checkMediaType(h http.Header) error {
	for _, v := range h.Values("Content-Encoding") {
		if v != "" && !strings.EqualFold(v, "identity") {
			return failf(codeUnsupportedType, "Content-Encoding must be identity or absent, not %s", excerpt.Quote(v))
		}
	}
	v := strings.Join(h.Values("Content-Type"), ", ") // invalid if there are two
	if v == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(v)
	if err != nil || mediaType != "application/json" {
		return failf(codeUnsupportedType, "Content-Type must be application/json, not %s", excerpt.Quote(v))
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return failf(codeUnsupportedType, "charset must be UTF-8, not %s", excerpt.Quote(charset))
	}
	return nil
}

// readObject returns the members of the JSON object in the body of r, which ServeHTTP has limited to
// maxBody. The JSON must be unambiguous (RFC 8259, RFC 7493): UTF-8 without a byte order mark, no
// duplicate names at any depth, no lone surrogates, nothing after the object. Names are
// case-sensitive, and unknown names are ignored.
func readObject(r *request) (o object, err error) {
	if err := checkMediaType(r.Header); err != nil {
		return o, err
	}
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return o, failf(codeBodyTooLarge, "the body must have at most %d bytes", maxBody)
	}
	if err != nil {
		return o, fmt.Errorf("%w: %v",
			failf(codeBadRequest, "the body is incomplete or came too slowly; send the request again"), err)
	}
	switch text := bytes.TrimLeft(body, space); {
	case len(text) == 0:
		return o, failf(codeMalformedBody, "the body is empty; send one JSON object, such as %s", example)
	case text[0] != '{':
		return o, failf(codeMalformedBody, "the body must be one JSON object, such as %s, not %s", example, quoteJSON(body))
	}
	if err := json.Unmarshal(body, &o.values); err != nil {
		return o, failf(codeMalformedBody, "%s", explain(err, body))
	}
	return o, nil
}

const (
	space   = " \t\r\n" // of JSON
	example = `{"id": 7, …}`
)

// An object has the members of a body's JSON object. Raw values distinguish null from absent, and
// 1.0 from 1. The methods text and integer require their member. Like a [bufio.Scanner], an object keeps its
// first error: read all members, then check err.
type object struct {
	values map[string]jsontext.Value
	err    error
}

// plant reads and validates a plant.
func (o *object) plant() plants.Plant {
	p := plants.Plant{ID: o.integer("id"), Name: o.text("name")}
	if o.has("tag") {
		p.Tag = new(o.text("tag"))
	}
	if err := p.Validate(); err != nil {
		o.refuse("%s", err)
	}
	return p
}

// has reports whether there is a member with the given name, even if its value is null.
func (o *object) has(name string) bool {
	_, present := o.values[name]
	return present
}

// text returns a string. It rejects null.
func (o *object) text(name string) string {
	v := o.require(name, "")
	if v.Kind() != '"' { // also if it is missing, but then require has set err
		o.refuse("%s must be a string, not %s", name, quoteJSON(v))
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		panic(err) // readObject has checked it
	}
	return string(text)
}

// integer returns an int64.
func (o *object) integer(name string) int64 {
	v := o.require(name, " and must be "+int64Rule)
	n, ok := parseInt64(string(v))
	if !ok {
		o.refuse("%s must be %s, not %s", name, int64Rule, quoteJSON(v))
	}
	return n
}

// require returns the value with the given name. If it is missing, require returns nil and sets
// err, which tells the rule or points to a name in another case.
func (o *object) require(name, rule string) jsontext.Value {
	if o.has(name) {
		return o.values[name]
	}
	for _, sent := range slices.Sorted(maps.Keys(o.values)) {
		if strings.EqualFold(sent, name) {
			o.refuse("%s is required: send it as %q, not %s, since names are case-sensitive",
				name, name, excerpt.Quote(sent))
			return nil
		}
	}
	o.refuse("%s is required%s", name, rule)
	return nil
}

// refuse sets err. Once it is set, later refusals are ignored.
func (o *object) refuse(format string, args ...any) {
	if o.err == nil {
		o.err = failf(codeInvalidField, format, args...)
	}
}

// int64Rule describes what parseInt64 accepts.
const int64Rule = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"

// parseInt64 parses an int64 in its canonical decimal form: no plus sign, no
// leading zeros, no -0, no fraction, no exponent.
func parseInt64(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// explain explains why a body that begins as a JSON object isn't one. Two mistakes get our own
// message; others get that of err, the decoder's error. Bytes are counted from 0.
func explain(err error, body []byte) string {
	_, members, _ := bytes.Cut(body, []byte("{"))
	// Shells remove double quotes: {"id": 7} becomes {id: 7}. {}} and {, are other mistakes.
	if name := bytes.TrimLeft(members, space); len(name) > 0 && !strings.ContainsRune(`"},`, rune(name[0])) {
		return fmt.Sprintf("malformed JSON at byte %d: names need double quotes", len(body)-len(name))
	}
	syntax, _ := errors.AsType[*jsontext.SyntacticError](err) // always one, since the values stay raw JSON
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Sprintf("duplicate name %s at byte %d; give each name once",
			excerpt.Quote(syntax.JSONPointer.LastToken()), syntax.ByteOffset)
	}
	return fmt.Sprintf("malformed JSON at byte %d: %.100s", syntax.ByteOffset, syntax.Err)
}

// quoteJSON formats a JSON value for a message, with at most 64 of its characters: a string as
// [excerpt.Quote] does, anything else as the client sent it. For other text, use excerpt.Quote.
func quoteJSON(v jsontext.Value) string {
	v = v.Clone()
	if v.Compact() != nil {
		return excerpt.Quote(string(v)) // not JSON
	}
	if v.Kind() == '"' {
		s, _ := jsontext.AppendUnquote(nil, v)
		return excerpt.Quote(string(s))
	}
	return excerpt.Truncate(strings.ToValidUTF8(string(v), "\ufffd")) // Compact doesn't check that it is UTF-8
}
