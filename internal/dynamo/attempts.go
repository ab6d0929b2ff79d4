package dynamo

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// attempts watches the attempts of one call. The SDK retries by itself and
// reports the last attempt only; what came before decides what it means.
type attempts struct {
	// unclear is true if an attempt may have been carried out without our
	// knowing: it was sent and got no answer, or one that doesn't say.
	unclear bool

	// last is the error of the last attempt that failed.
	last error
}

// watch is an option of a single call of the client.
func (a *attempts) watch(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		// What comes after the step named Retry runs once per attempt.
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("WatchAttempts", a.attempt),
			"Retry", middleware.After)
	})
}

func (a *attempts) attempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	// Without a connection nothing can have been carried out: a name that
	// doesn't resolve, a port that refuses, credentials that can't be had.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	out, metadata, err := next.HandleFinalize(ctx, in)
	if err != nil {
		a.last = err
		a.unclear = a.unclear || connected.Load() && !refused(err)
	}
	return out, metadata, err
}
