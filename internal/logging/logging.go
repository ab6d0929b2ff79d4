// Package logging provides the service's structured logger, whose lines carry
// the attributes of their request.
//
// It doesn't use lambdacontext.NewLogHandler, whose level comes from ApplicationLogLevel in
// template.yaml, not from LOG_LEVEL.
package logging

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
)

// New returns a logger that writes JSON to w or, if w is a terminal, text. It drops
// lines below level. Each line carries the attributes of its context, see [With].
func New(w io.Writer, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if isTerminal(w) {
		return slog.New(contextHandler{slog.NewTextHandler(w, options)})
	}
	return slog.New(contextHandler{slog.NewJSONHandler(w, options)})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type (
	attrsKey     struct{}
	requestIDKey struct{}
)

// With returns a copy of ctx whose log lines also carry attrs.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, attrsKey{}, slices.Concat(attrsOf(ctx), attrs))
}

// attrsOf returns the attributes that the log lines of ctx carry.
func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}

// WithRequestID returns a copy of ctx with the id of a request, which its log lines
// carry as request_id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(With(ctx, slog.String("request_id", id)), requestIDKey{}, id)
}

// RequestID returns the id that [WithRequestID] set, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// contextHandler adds the attributes of the context to every record.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	r.AddAttrs(attrsOf(ctx)...)
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
