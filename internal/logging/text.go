package logging

import (
	"log/slog"
	"strconv"
	"strings"
	"unicode"
)

// maxText is the length of what a log line or a message repeats of a client's text,
// in characters.
const maxText = 64

// Truncate returns the first 64 characters of s, with an ellipsis if there are more.
func Truncate(s string) string {
	n := 0
	for i := range s {
		if n == maxText {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Quote truncates and quotes a client's text for a message or a log line.
func Quote(s string) string { return strconv.Quote(Truncate(s)) }

// escape returns a with control and direction characters escaped as in Go: they
// could control a terminal, or make a line look like another one. It leaves the
// line breaks of a stack trace alone.
func escape(a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindString || a.Key == "stack" || !strings.ContainsFunc(a.Value.String(), notPrintable) {
		return a
	}
	var b strings.Builder
	for _, r := range a.Value.String() {
		if notPrintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return slog.String(a.Key, b.String())
}

// escapeAll returns attrs, each escaped.
func escapeAll(attrs []slog.Attr) []slog.Attr {
	var escaped []slog.Attr
	for _, a := range attrs {
		escaped = append(escaped, escape(a))
	}
	return escaped
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
