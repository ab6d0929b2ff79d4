// Package logging provides the service's structured logger, whose lines carry
// the attributes of their request.
package logging

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
)

// New returns a logger that writes JSON to w or, if w is a terminal, lines for a
// person. It drops lines below level. Each line carries the attributes of its
// context, see [With].
func New(w io.Writer, level slog.Level) *slog.Logger {
	var h slog.Handler = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	if isTerminal(w) {
		h = terminalHandler{w: w, level: level}
	}
	return slog.New(contextHandler{h})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// RequestID is the key of the attribute that identifies a request.
const RequestID = "request_id"

type contextKey struct{}

// With returns a copy of ctx whose log lines also carry attrs.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, contextKey{}, slices.Concat(attrsOf(ctx), attrs))
}

// attrsOf returns the attributes that the log lines of ctx carry.
func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(contextKey{}).([]slog.Attr)
	return attrs
}

// RequestIDOf returns the request id that the log lines of ctx carry, or "".
func RequestIDOf(ctx context.Context) string {
	for _, a := range attrsOf(ctx) {
		if a.Key == RequestID {
			return a.Value.String()
		}
	}
	return ""
}

// Escape returns s, which a client chose, with control and direction characters
// escaped as in Go: they could make a line look like another one. It also escapes
// quotes and backslashes.
func Escape(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// contextHandler adds the attributes of the context to every record.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if attrs := attrsOf(ctx); len(attrs) > 0 {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
