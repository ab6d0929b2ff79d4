package dynamo

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// attempts observes the attempts of one call. The SDK retries on its own and
// reports only the last attempt, but what happened to the earlier ones decides
// what the last one means.
type attempts struct {
	// unclear is true if DynamoDB may have carried out an attempt that failed:
	// it was sent, and no answer says otherwise.
	unclear bool

	// last is the error of the last failed attempt.
	last error
}

// watch is an option of a single call to the client.
func (a *attempts) watch(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		// Middleware after the step "Retry" runs once per attempt.
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("WatchAttempts", a.attempt),
			"Retry", middleware.After)
	})
}

func (a *attempts) attempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	// Without a connection nothing was carried out: the name didn't resolve,
	// the port refused, or there were no credentials.
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
