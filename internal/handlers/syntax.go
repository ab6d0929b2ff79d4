package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/logging"
)

// explainSyntax says what is wrong with a body that is not one JSON object, where, and
// how to fix it. Bytes are counted from 0. It looks at the body itself, since errors of
// package jsontext have only a text, in that package's words.
func explainSyntax(body []byte) string {
	const example = `{"id": 7, "name": "Basil"}` // of an object; other resources have other members
	switch text := bytes.TrimLeft(body, space); {
	case len(text) == 0:
		return "the body is empty; send one JSON object, such as " + example
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return "the body begins with a byte order mark; send UTF-8 without one"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")), bytes.IndexByte(text[:min(len(text), 2)], 0) >= 0:
		return "the body looks like UTF-16; send UTF-8"
	case text[0] != '{':
		return fmt.Sprintf("the body must be one JSON object, such as %s, not %s", example, quote(body))
	}

	d := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := d.ReadToken()
	for err == nil && d.StackDepth() > 0 {
		_, err = d.ReadToken()
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return explainToken(body, d, syntax)
	}
	next := skipSpace(body, int(d.InputOffset())) // after the object
	if bytes.HasPrefix(body[next:], []byte("{")) {
		return fmt.Sprintf("send one object; another begins at byte %d", next)
	}
	return at(next, "nothing may follow the object")
}

// explainToken says what is wrong with the first invalid token of body. It stands after
// the last valid one, here 7, with white space and perhaps a delimiter in between:
//
//	{"id": 7 , 'name': "Basil"}
//	        ↑↑ ↑
//	     last│ token
//	         next
//
// The order of the cases matters: after the first there is a byte at token, and each
// excludes what those before it describe better.
func explainToken(body []byte, d *jsontext.Decoder, err *jsontext.SyntacticError) string {
	last := int(d.InputOffset())
	next := skipSpace(body, last)
	container, n := d.StackIndex(d.StackDepth()) // the innermost array or object, and the number of its tokens
	isName, delimiter := container == '{' && n%2 == 0, byte(',')
	if container == '{' && !isName {
		delimiter = ':'
	}
	token := next
	if n > 0 && next < len(body) && body[next] == delimiter {
		token = skipSpace(body, next+1)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		missing := "}"
		if token < len(body) && body[token] == '"' {
			missing = `"`
		} else if container == '[' {
			missing = "]"
		}
		return fmt.Sprintf("the body ends too early, at byte %d: is a %s missing?", len(body), missing)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("duplicate name %s at byte %d; give each name once", logging.Quote(err.JSONPointer.LastToken()), token)
	case body[token] == '/':
		return at(token, "JSON has no comments")
	case n > 0 && token == next && body[last-1] == '0' && isDigit(body[last]): // 07 is the valid token 0, and then 7
		return at(next, "numbers have no leading zeros")
	case n > 0 && token == next:
		return at(next, explainDelimiter(delimiter, container))
	case body[token] == ',' && n == 0:
		return fmt.Sprintf("the comma at byte %d has nothing before it", token)
	case body[next] == ',' && strings.IndexByte(",}]", body[token]) >= 0:
		return fmt.Sprintf("the comma at byte %d has nothing after it", next)
	case body[token] == '"':
		return at(int(err.ByteOffset), explainString(body[err.ByteOffset:]))
	case isName:
		return at(token, "names need double quotes")
	case body[token] == '-' || isDigit(body[token]):
		return at(int(err.ByteOffset), "the number lacks a digit here")
	}
	return at(token, explainValue(body[token:]))
}

// at returns the message about a fault at byte i.
func at(i int, fault string) string { return fmt.Sprintf("malformed JSON at byte %d: %s", i, fault) }

// explainDelimiter says which delimiter is missing after a name or value in container.
func explainDelimiter(delimiter byte, container jsontext.Kind) string {
	switch {
	case delimiter == ':':
		return "a colon must follow the name"
	case container == '[':
		return "a comma or ] must follow the value"
	}
	return "a comma or } must follow the value"
}

// explainString says what is wrong with text, the rest of a string.
func explainString(text []byte) string {
	hex, isU := bytes.CutPrefix(text, []byte(`\u`))
	n, err := strconv.ParseUint(string(hex[:min(len(hex), 4)]), 16, 16)
	switch c := text[0]; {
	case c == '\n' || c == '\r':
		return `write \n for a line break in a string`
	case c == '\t':
		return `write \t for a tab in a string`
	case c < ' ':
		return fmt.Sprintf(`write \u%04x for this control character in a string`, c)
	case isU && err == nil && 0xd800 <= n && n < 0xe000:
		return "half of a surrogate pair; send both halves, or the character itself"
	case isU:
		return `four hexadecimal digits must follow \u`
	case c == '\\':
		return `no such escape; write \\ for a backslash`
	}
	return "invalid UTF-8; send the body in UTF-8"
}

// explainValue says what is wrong with text, which begins with no number and no string.
func explainValue(text []byte) string {
	first, size := utf8.DecodeRune(text)
	word := text[:len(text)-len(bytes.TrimLeftFunc(text, isWord))]
	switch {
	case len(word) > 0:
		return logging.Truncate(string(word)) + " is not a JSON value; the only words without quotes are true, false and null"
	case strings.ContainsRune("'`‘’“”„«»", first):
		return "strings need double quotes"
	case first == '+':
		return "numbers have no plus sign"
	case first == '.':
		return "numbers begin with a digit"
	case first == '{' || first == '[':
		return "too many levels of arrays and objects"
	case strings.ContainsRune(",:]}", first):
		return "a value is missing"
	}
	return strconv.Quote(string(text[:size])) + " can't begin a value"
}

// space is what JSON allows between tokens.
const space = " \t\r\n"

// skipSpace returns the index of the first byte at or after i that is not white space.
func skipSpace(body []byte, i int) int { return len(body) - len(bytes.TrimLeft(body[i:], space)) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' }

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
