package handlers

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/plantstore/internal/logging"
)

// explainSyntax says what is wrong with a body that is not one JSON object, where, and
// how to fix it. Bytes are counted from 0. It finds the fault by what follows the last
// valid token, because errors of package jsontext have only a text, in that package's
// words.
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
	// The first token that is not valid follows the last valid one, after white space and
	// perhaps a delimiter.
	last := int(d.InputOffset())
	next := skipSpace(body, last)
	kind, n := d.StackIndex(d.StackDepth()) // the innermost array or object, and the number of its tokens
	isName, delimiter := kind == '{' && n%2 == 0, byte(',')
	if kind == '{' && !isName {
		delimiter = ':'
	}
	token := next
	if n > 0 && next < len(body) && body[next] == delimiter {
		token = skipSpace(body, next+1)
	}
	at := func(i int, fault string) string { return fmt.Sprintf("malformed JSON at byte %d: %s", i, fault) }

	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil && next < len(body) && body[next] == '{':
		return fmt.Sprintf("send one object; another begins at byte %d", next)
	case !ok:
		return at(next, "nothing may follow the object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		missing := "}"
		if token < len(body) && body[token] == '"' {
			missing = `"`
		} else if kind == '[' {
			missing = "]"
		}
		return fmt.Sprintf("the body ends too early, at byte %d: is a %s missing?", len(body), missing)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("duplicate name %s at byte %d; give each name once", logging.Quote(syntax.JSONPointer.LastToken()), token)
	case body[token] == '/':
		return at(token, "JSON has no comments")
	case n > 0 && body[next] != delimiter: // token is next
		return at(next, explainDelimiter(body[last-1:], delimiter, kind))
	case body[token] == ',' && n == 0:
		return fmt.Sprintf("the comma at byte %d has nothing before it", token)
	case body[next] == ',' && strings.IndexByte(",}]", body[token]) >= 0:
		return fmt.Sprintf("the comma at byte %d has nothing after it", next)
	case body[token] == '"':
		return at(int(syntax.ByteOffset), explainString(body[syntax.ByteOffset:]))
	case isName:
		return at(token, "names need double quotes")
	case body[token] == '-' || isDigit(body[token]):
		return at(int(syntax.ByteOffset), "the number lacks a digit here")
	}
	return at(token, explainValue(body[token:]))
}

// explainDelimiter says what is wrong with text, which begins with the last byte of a
// name or value, and goes on without the delimiter.
func explainDelimiter(text []byte, delimiter byte, kind jsontext.Kind) string {
	switch {
	case text[0] == '0' && isDigit(text[1]):
		return "numbers have no leading zeros"
	case delimiter == ':':
		return "a colon must follow the name"
	case kind == '[':
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
