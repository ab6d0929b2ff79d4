package handlers

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

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
		return nil, failf(CodeMalformedBody, "%s", explainSyntax(body))
	}
	return members, nil
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
