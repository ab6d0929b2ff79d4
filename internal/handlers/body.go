package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/records"
)

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// decodeRecord reads and validates a record from the body of a request. The JSON
// must be unambiguous (RFC 8259, RFC 7493): UTF-8 without a byte order mark, no
// duplicate names at any depth, no lone surrogates, nothing after the object. Names
// are case-sensitive, and unknown names are ignored.
func decodeRecord[T records.Fields](body []byte) (r records.Record[T], err error) {
	members, err := decodeObject(body)
	if err != nil {
		return r, err
	}
	id, present := members["id"]
	if !present {
		return r, missing("id", "id is required and must be "+int64Rule, members)
	}
	var ok bool
	if r.ID, ok = parseInt64(string(id)); !ok {
		return r, failf(CodeInvalidField, "id must be %s, not %s", int64Rule, quote(id))
	}
	r.Fields, err = decodeFields[T](members)
	return r, err
}

// decodeObject returns the members of a JSON object. Raw values distinguish null from
// absent, and 1.0 from 1.
func decodeObject(body []byte) (members map[string]jsontext.Value, err error) {
	err = json.Unmarshal(body, &members)
	if err != nil || jsontext.Value(body).Kind() != '{' { // Unmarshal accepts null
		return nil, failf(CodeMalformedBody, "%s", explainBody(body, err))
	}
	return members, nil
}

// explainBody says why a body is not one JSON object. The frequent mistakes have words of
// our own, the others those of err, the decoder's error. Bytes are counted from 0.
func explainBody(body []byte, err error) string {
	const example = `{"id": 7, "name": "Basil"}` // of an object; other resources have other members
	const space = " \t\r\n"
	text := bytes.TrimLeft(body, space)
	switch {
	case len(text) == 0:
		return "the body is empty; send one JSON object, such as " + example
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return "the body begins with a byte order mark; send UTF-8 without one"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text[:min(len(text), 2)], 0) >= 0:
		return "the body looks like UTF-16; send UTF-8"
	case text[0] != '{':
		return fmt.Sprintf("the body must be one JSON object, such as %s, not %s", example, quote(body))
	}
	// Shells remove double quotes, as from {"id": 7}.
	name := bytes.TrimLeft(text[1:], space)
	if first, _ := utf8.DecodeRune(name); first == '\'' || first == '“' || first == '_' || unicode.IsLetter(first) || unicode.IsDigit(first) {
		return fmt.Sprintf("malformed JSON at byte %d: names need double quotes", len(body)-len(name))
	}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return "malformed JSON"
	}
	at := syntax.ByteOffset
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("duplicate name %s at byte %d; give each name once", logging.Quote(syntax.JSONPointer.LastToken()), at)
	case bytes.HasPrefix(body[at:], []byte("{")) && jsontext.Value(body[:at]).IsValid():
		return fmt.Sprintf("send one object; another begins at byte %d", at)
	}
	return fmt.Sprintf("malformed JSON at byte %d: %.100s", at, syntax.Err)
}

// quote returns a value as a message repeats it: at most 64 characters of it.
func quote(v jsontext.Value) string {
	v = v.Clone()
	if v.Compact() != nil {
		return logging.Quote(string(v)) // not JSON
	}
	if v.Kind() == '"' {
		s, _ := jsontext.AppendUnquote(nil, v)
		return logging.Quote(string(s))
	}
	return logging.Truncate(string(v))
}

// checkMediaType returns an error if h declares a body that is not plain JSON
// in UTF-8. A missing or empty header is fine.
func checkMediaType(h http.Header) error {
	for _, v := range h.Values("Content-Encoding") {
		if v != "" && !strings.EqualFold(v, "identity") {
			return failf(CodeUnsupportedType, "Content-Encoding must be identity or absent, not %s", logging.Quote(v))
		}
	}
	v := strings.Join(h.Values("Content-Type"), ", ")
	if v == "" {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(v)
	if err != nil || mediaType != "application/json" {
		return failf(CodeUnsupportedType, "Content-Type must be application/json, not %s", logging.Quote(v))
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return failf(CodeUnsupportedType, "charset must be UTF-8, not %s", logging.Quote(charset))
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
		return nil, failf(CodeBadRequest, "the body is incomplete or came too slowly; send the request again")
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

// An array is the body of a list: a JSON array of at most maxList bytes.
type array struct{ buffer bytes.Buffer }

// add appends v, and reports whether it fits.
func (a *array) add(v any) (fits bool) {
	end := a.buffer.Len()
	if end == 0 {
		a.buffer.WriteByte('[')
	} else {
		a.buffer.WriteByte(',')
	}
	if err := json.MarshalWrite(&a.buffer, v); err != nil {
		panic(err) // every string was validated as UTF-8
	}
	if a.buffer.Len()+len("]\n") > maxList {
		a.buffer.Truncate(end)
		return false
	}
	return true
}

// close returns the array as a line of JSON, without the spare capacity of the buffer.
func (a *array) close() []byte {
	if a.buffer.Len() == 0 {
		return []byte("[]\n")
	}
	a.buffer.WriteString("]\n")
	return bytes.Clone(a.buffer.Bytes())
}
