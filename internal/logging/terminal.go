package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// A terminalHandler writes lines for a person, without request ids and groups. The line of
// a request has its method, the path of its route, the status, the duration, the user, the
// error code and the cause:
//
//	02:04:42 POST /plants 400 0.4ms alice 40003 the id is in use
type terminalHandler struct {
	w     io.Writer
	level slog.Level
	attrs []slog.Attr
}

func (h terminalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }
func (h terminalHandler) WithGroup(string) slog.Handler                { return h }
func (h terminalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return terminalHandler{h.w, h.level, slices.Concat(h.attrs, attrs)}
}

func (h terminalHandler) Handle(_ context.Context, r slog.Record) error {
	line := r.Time.Format(time.TimeOnly)
	if r.Level != slog.LevelInfo {
		line += " " + r.Level.String()
	}
	if r.Message != "request" {
		line += " " + r.Message
	}
	r = r.Clone()
	r.AddAttrs(h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.String()
		switch a.Key {
		case "request_id":
		case "method", "path", "status", "sub", "error", "cause":
			line += " " + value
		case "route": // such as "GET /plants": the method is in the line already
			if _, path, ok := strings.Cut(value, " "); ok {
				line += " " + path
			}
		case "duration_ms":
			line += fmt.Sprintf(" %.1fms", a.Value.Any())
		case "stack":
			line += "\n" + value
		default:
			line += fmt.Sprintf(" %s=%q", a.Key, value)
		}
		return true
	})
	_, err := io.WriteString(h.w, line+"\n")
	return err
}
