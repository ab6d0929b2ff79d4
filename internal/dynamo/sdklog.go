package dynamo

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/smithy-go/logging"
)

// An sdkLogger logs the SDK's messages as structured lines, at level Warn or
// Debug, with the context of the request that they belong to.
type sdkLogger struct {
	ctx context.Context
	log *slog.Logger
}

var _ logging.ContextLogger = sdkLogger{}

// WithContext implements [logging.ContextLogger].
func (l sdkLogger) WithContext(ctx context.Context) logging.Logger {
	return sdkLogger{ctx, l.log}
}

// Logf implements [logging.Logger].
func (l sdkLogger) Logf(class logging.Classification, format string, args ...any) {
	level := slog.LevelWarn
	if class == logging.Debug {
		level = slog.LevelDebug
	}
	if l.log.Enabled(l.ctx, level) {
		l.log.Log(l.ctx, level, "AWS SDK", "detail", fmt.Sprintf(format, args...))
	}
}
