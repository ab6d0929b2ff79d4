package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
)

func code(t testing.TB, err error) Code {
	t.Helper()
	if err == nil {
		return 0
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		t.Fatalf("%v is not a fault of the request", err)
	}
	return f.code
}

func TestDecodePlant(t *testing.T) {
	herb, empty := "herb", ""
	for body, want := range map[string]plants.Plant{
		`{"id":1,"name":"Basil","tag":"herb"}`:                       {ID: 1, Name: "Basil", Tag: &herb},
		` {"name":"Basil","id":-9223372036854775808} ` + "\n":        {ID: -1 << 63, Name: "Basil"},
		`{"id":9223372036854775807,"name":"a","tag":""}`:             {ID: 1<<63 - 1, Name: "a", Tag: &empty},
		`{"id":0,"name":"\u0000\"\\\/\n\ud83c\udf3f","x":{"y":[1]}}`: {Name: "\x00\"\\/\n🌿"},
		`{"id":0,"name":"a","ID":"x","Name":null,"TAG":1}`:           {Name: "a"},
		`{"id":0,"n\u0061me":"escaped"}`:                             {Name: "escaped"},
	} {
		if got, err := decodePlant([]byte(body)); err != nil || !got.Same(want) {
			t.Errorf("%s: got %+v, %v", body, got, err)
		}
	}
	long := strings.Repeat("🌿", plants.MaxNameLength)
	for body, want := range map[string]Code{
		``:                                      CodeMalformedBody,
		`null`:                                  CodeMalformedBody,
		`[]`:                                    CodeMalformedBody,
		`"id"`:                                  CodeMalformedBody,
		`{`:                                     CodeMalformedBody,
		`{"id":1,"name":"a"`:                    CodeMalformedBody,
		`{"id":1,"name":"a"} x`:                 CodeMalformedBody,
		`{"id":1,"name":"a"}{}`:                 CodeMalformedBody,
		`{"id":1,"name":"a",}`:                  CodeMalformedBody,
		`{'id':1}`:                              CodeMalformedBody,
		"\xef\xbb\xbf" + `{"id":1,"name":"a"}`:  CodeMalformedBody,
		`{"id":1,"name":"a","name":"a"}`:        CodeMalformedBody,
		`{"id":1,"name":"a","n\u0061me":"a"}`:   CodeMalformedBody,
		`{"id":1,"name":"a","x":{"y":1,"y":2}}`: CodeMalformedBody,
		`{"id":1,"name":"a","x":[{"y":1,"y":2}]}`:   CodeMalformedBody,
		`{"id":1,"name":"\ud800"}`:                  CodeMalformedBody,
		`{"id":1,"name":"a","x":"\udc00"}`:          CodeMalformedBody,
		"{\"id\":1,\"name\":\"\xff\"}":              CodeMalformedBody,
		"{\"id\":1,\"name\":\"a\",\"x\":\"\xc0\"}":  CodeMalformedBody,
		"{\"id\":1,\"name\":\"a\nb\"}":              CodeMalformedBody,
		`{"id":01,"name":"a"}`:                      CodeMalformedBody,
		`{"id":+1,"name":"a"}`:                      CodeMalformedBody,
		`{"id":NaN,"name":"a"}`:                     CodeMalformedBody,
		`{}`:                                        CodeInvalidField,
		`{"name":"a"}`:                              CodeInvalidField,
		`{"ID":1,"name":"a"}`:                       CodeInvalidField,
		`{"id":null,"name":"a"}`:                    CodeInvalidField,
		`{"id":"1","name":"a"}`:                     CodeInvalidField,
		`{"id":1.5,"name":"a"}`:                     CodeInvalidField,
		`{"id":1.0,"name":"a"}`:                     CodeInvalidField,
		`{"id":1e3,"name":"a"}`:                     CodeInvalidField,
		`{"id":1e400,"name":"a"}`:                   CodeInvalidField,
		`{"id":-0,"name":"a"}`:                      CodeInvalidField,
		`{"id":9223372036854775808,"name":"a"}`:     CodeInvalidField,
		`{"id":-9223372036854775809,"name":"a"}`:    CodeInvalidField,
		`{"id":true,"name":"a"}`:                    CodeInvalidField,
		`{"id":[1],"name":"a"}`:                     CodeInvalidField,
		`{"id":1}`:                                  CodeInvalidField,
		`{"id":1,"name":null}`:                      CodeInvalidField,
		`{"id":1,"name":1}`:                         CodeInvalidField,
		`{"id":1,"name":""}`:                        CodeInvalidField,
		`{"id":1,"name":" \t\u2003"}`:               CodeInvalidField,
		`{"id":1,"name":"` + long + `x"}`:           CodeInvalidField,
		`{"id":1,"name":"a","tag":null}`:            CodeInvalidField,
		`{"id":1,"name":"a","tag":{}}`:              CodeInvalidField,
		`{"id":1,"name":"a","tag":"` + long + `x"}`: CodeInvalidField,
	} {
		if _, err := decodePlant([]byte(body)); code(t, err) != want {
			t.Errorf("%.80q: got %v, want error %d", body, err, want)
		}
	}
}

func TestCheckMediaType(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []string
		want   Code
	}{
		{"Content-Type", nil, 0},
		{"Content-Type", []string{""}, 0},
		{"Content-Type", []string{"application/json"}, 0},
		{"Content-Type", []string{"Application/JSON; charset=\"UTF-8\"; v=1"}, 0},
		{"Content-Type", []string{"application/json; charset=latin1"}, CodeUnsupportedType},
		{"Content-Type", []string{"application/json; charset="}, CodeUnsupportedType},
		{"Content-Type", []string{"application/json; x"}, CodeUnsupportedType},
		{"Content-Type", []string{"application/json, application/json"}, CodeUnsupportedType},
		{"Content-Type", []string{"application/json", "text/plain"}, CodeUnsupportedType},
		{"Content-Type", []string{"application/problem+json"}, CodeUnsupportedType},
		{"Content-Type", []string{"text/plain"}, CodeUnsupportedType},
		{"Content-Type", []string{"/"}, CodeUnsupportedType},
		{"Content-Encoding", []string{""}, 0},
		{"Content-Encoding", []string{"Identity"}, 0},
		{"Content-Encoding", []string{"gzip"}, CodeUnsupportedType},
		{"Content-Encoding", []string{"identity", "gzip"}, CodeUnsupportedType},
	} {
		if err := checkMediaType(http.Header{test.name: test.values}); code(t, err) != test.want {
			t.Errorf("%s: %q: got %v, want error %d", test.name, test.values, err, test.want)
		}
	}
}

func TestWriteToken(t *testing.T) {
	token := func(keys ...string) (plants.WriteToken, Code) {
		r := &request{Request: &http.Request{Header: http.Header{}}}
		r.caller.Subject = "alice"
		for _, key := range keys {
			r.Header.Add("Idempotency-Key", key)
		}
		token, err := writeToken(r)
		return token, code(t, err)
	}
	for _, bad := range [][]string{
		{""}, {"a b"}, {"a,b"}, {"\t"}, {"é"}, {"\x7f"}, {"\xff"}, {strings.Repeat("k", maxKey+1)}, {"a", "a"}, {"a", "b"},
	} {
		if _, got := token(bad...); got != CodeInvalidKey {
			t.Errorf("%q: error %d, want %d", bad, got, CodeInvalidKey)
		}
	}
	for _, good := range []string{"!", "~", `"8e03978e"`, strings.Repeat("k", maxKey)} {
		if got, code := token(good); code != 0 || got != plants.KeyedWriteToken("alice", good) {
			t.Errorf("%q: error %d, token %s", good, code, got)
		}
	}
	a, _ := token()
	if b, _ := token(); a == b {
		t.Error("two requests without a key have the same token")
	}
}

// A body that breaks off is the client's fault, and said in the Error shape.
func TestBrokenBody(t *testing.T) {
	s := newServer(t, newStore(t))
	a := s.do(t, "POST", "/plants", strings.Repeat(" ", maxBody+1))
	if code, _ := a.error(t); code != CodeBodyTooLarge {
		t.Errorf("a body of one byte too much: error %d", code)
	}
	padded := `{"id":1,"name":"Basil"}`
	a = s.do(t, "POST", "/plants", padded+strings.Repeat(" ", maxBody-len(padded)))
	if a.status != 200 {
		t.Errorf("the largest body: %d %s", a.status, a.body)
	}
	r := &request{Request: &http.Request{Body: http.NoBody}}
	r.Body = brokenReader{}
	if _, err := readBody(r); code(t, err) != CodeBadRequest {
		t.Errorf("a body that breaks off: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }
func (brokenReader) Close() error             { return nil }

// FuzzDecodePlant holds the decoder to the standard library's: what ours takes,
// the lenient one must read in the same way, and nothing may be lost.
func FuzzDecodePlant(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"Basil","tag":"herb"}`, `{"id":-9223372036854775808,"name":"\ud83c\udf3f","tag":""}`,
		`{"id":1,"name":"a","x":{"y":1,"y":2}}`, `{"id":1e3,"name":null}`, "\xef\xbb\xbf{}", `{"id":0,"n\u0061me":"a"}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePlant(body)
		if err != nil {
			if c := code(t, err); c != CodeMalformedBody && c != CodeInvalidField {
				t.Errorf("error %d for a body", c)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Errorf("accepted, but %v", err)
		}
		var fields map[string]json.RawMessage
		if !utf8.Valid(body) || json.Unmarshal(body, &fields) != nil {
			t.Fatalf("accepted, but not JSON: %q", body)
		}
		var name string
		var id int64
		if json.Unmarshal(fields["name"], &name) != nil || name != p.Name || json.Unmarshal(fields["id"], &id) != nil || id != p.ID {
			t.Errorf("read as %+v, want id %d and name %q", p, id, name)
		}
		var tag *string
		if raw, ok := fields["tag"]; ok && (json.Unmarshal(raw, &tag) != nil || tag == nil) {
			t.Errorf("the tag %s was accepted", raw)
		}
		if !p.Same(plants.Plant{ID: id, Name: name, Tag: tag}) {
			t.Errorf("read as %+v, want tag %v", p, tag)
		}
		// What goes out reads as what came in, and markup is left as it is.
		out := encode(plantBody{&p.ID, p.Name, p.Tag})
		if again, err := decodePlant(out); err != nil || !again.Same(p) || bytes.Contains(out, []byte(`\u003c`)) {
			t.Errorf("%+v goes out as %s", p, out)
		}
	})
}

// FuzzCursor holds that a cursor is read only as it is written.
func FuzzCursor(f *testing.F) {
	for _, id := range []int64{-1 << 63, 0, 1<<63 - 1} {
		f.Add(formatCursor(id))
	}
	f.Add("AQAAAAAAAAA=")
	f.Add("AQAA\nAAAAAAA")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := parseCursor(s); ok && formatCursor(id) != s {
			t.Errorf("%q reads as %d, which is written %q", s, id, formatCursor(id))
		}
	})
}
