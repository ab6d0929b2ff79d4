package dynamo

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/smithy-go/logging"
)

// An sdkLogger sends the lines of the SDK to a structured logger, with the
// context of the request that they belong to.
type sdkLogger struct {
	logger *slog.Logger
	ctx    context.Context
}

var _ logging.ContextLogger = sdkLogger{}

// SDKLogger returns what sends the lines of the SDK to logger, or to
// [slog.Default] if that is nil. Those of no request have the context ctx.
func SDKLogger(ctx context.Context, logger *slog.Logger) logging.Logger {
	if logger == nil {
		logger = slog.Default()
	}
	return sdkLogger{logger, ctx}
}

// WithContext implements [logging.ContextLogger].
func (l sdkLogger) WithContext(ctx context.Context) logging.Logger {
	l.ctx = ctx
	return l
}

// Logf implements [logging.Logger].
func (l sdkLogger) Logf(class logging.Classification, format string, args ...any) {
	level := slog.LevelWarn
	if class == logging.Debug {
		level = slog.LevelDebug
	}
	if l.logger.Enabled(l.ctx, level) {
		l.logger.Log(l.ctx, level, "AWS SDK", "detail", fmt.Sprintf(format, args...))
	}
}
