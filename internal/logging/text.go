package logging

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"unicode"
)

// maxText is how many characters of a client's text a log line or a message repeats.
const maxText = 64

// Truncate shortens a client's text for a log line or a message. It puts an ellipsis
// after the characters that it keeps.
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

// escapeHandler escapes the attributes of every record, since clients choose some of
// them. A ReplaceAttr of the JSON handler would do that too, but makes each line slower.
type escapeHandler struct{ slog.Handler }

func (h escapeHandler) Handle(ctx context.Context, r slog.Record) error {
	escaped := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		escaped.AddAttrs(escape(a))
		return true
	})
	return h.Handler.Handle(ctx, escaped)
}

func (h escapeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var escaped []slog.Attr
	for _, a := range attrs {
		escaped = append(escaped, escape(a))
	}
	return escapeHandler{h.Handler.WithAttrs(escaped)}
}

func (h escapeHandler) WithGroup(name string) slog.Handler {
	return escapeHandler{h.Handler.WithGroup(name)}
}

// escape returns a with each character that isn't printable ([unicode.IsPrint]) escaped as
// in Go. Such a character may control a terminal or the direction of text, or look like a
// space, and make a line look like another one. The line breaks of a stack trace stay.
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

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
