package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithylog "github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/plants"
)

// The SDK repeats requests that fail or get no response. All of them are safe to repeat.
// If DynamoDB accepts connections at once but never responds, a request takes at most
// 7.25 s: 6 attempts of a second each, and delays of 50, 100, 200, 400 and 500 ms. If
// connections are slow too, the request lasts until its context ends.
const (
	// maxAttempts applies unless AWS_MAX_ATTEMPTS is set.
	maxAttempts = 6

	// Delays are random. AWS suggests tens of milliseconds for the first; the
	// SDK's is up to 2 s.
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	firstDelay = 50 * time.Millisecond // at most
	maxDelay   = 500 * time.Millisecond
)

// newRetryer returns the SDK's retryer with shorter delays, and with the errors that it lacks.
// All calls of a client share its budget, which lasts for about 100 retries. Without the
// budget, DynamoDB would get six times the load while it is down. The SDK lets a retry cost 14
// of 500 units unless DynamoDB throttles: with a tenth of the responses lost, creates would
// soon fail.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RetryCost = retry.DefaultThrottlingRetryCost
		o.Backoff = retry.BackoffDelayerFunc(delay)
		o.Retryables = append(o.Retryables,
			retry.RetryableErrorCode{Codes: retryableCodes},
			retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
				// For example, the body was cut off.
				if _, unreadable := errors.AsType[*smithy.DeserializationError](err); unreadable {
					return aws.TrueTernary
				}
				return aws.UnknownTernary
			}),
		)
	})
}

// retryableCodes are error codes after which a retry may succeed, although the SDK gives up.
// DynamoDB's documentation also allows retries after UnrecognizedClientException, which means
// wrong credentials, and after an error that only tables with a local index have.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var retryableCodes = map[string]struct{}{
	"ReplicatedWriteConflictException": {}, // a write in another region, with strong consistency between regions
	"TransactionConflictException":     {}, // somebody else's transaction, such as an operator's
	"UnknownError":                     {}, // the SDK's code if the response has none, for example from a proxy
}

// delay returns how long to wait after the given attempt. Attempts count from 1, and in a
// new mode of the SDK from 0. Both begin with firstDelay.
func delay(attempt int, _ error) (time.Duration, error) {
	limit := firstDelay
	for range attempt - 1 {
		limit = min(2*limit, maxDelay)
	}
	return rand.N(limit), nil
}

type lastFailureKey struct{}

// withLastFailure returns a context for one call of the SDK's client. During the call,
// noteFailure sets lastFailure to the error of the last attempt that failed before the
// context ended. If the context ends, the SDK's error says only that.
func withLastFailure(ctx context.Context) (_ context.Context, lastFailure *error) {
	lastFailure = new(error)
	return context.WithValue(ctx, lastFailureKey{}, lastFailure), lastFailure
}

// addNoteFailure adds noteFailure to the middleware of a request, inside the SDK's retry
// loop. (The SDK's own retry.GetAttemptResults loses the error of the last attempt if the
// context ends during a delay.)
func addNoteFailure(stack *middleware.Stack) error {
	return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("NoteFailure", noteFailure), middleware.After)
}

func noteFailure(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if last, ok := ctx.Value(lastFailureKey{}).(*error); ok && err != nil && ctx.Err() == nil {
		*last = err
		// The SDK's log of retries lacks the cause.
		middleware.GetLogger(ctx).Logf(smithylog.Debug, "attempt failed: %v", err)
	}
	return out, metadata, err
}

// storeError maps err, the error of a call, to the errors of [plants.Store], and keeps the
// SDK's text for the log. It returns nil for nil. Any other error, such as access denied, is
// a fault of the service.
//
// A mapped error doesn't wrap the SDK's. The error of an attempt that timed out matches
// context.DeadlineExceeded, so callers would think that ctx has ended.
func (s *Store) storeError(ctx context.Context, lastFailure, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && lastFailure != nil {
		return fmt.Errorf("%w: %v, after an attempt failed: %v", ctx.Err(), err, lastFailure)
	}
	if sentinel := cmp.Or(ctx.Err(), s.transientError(err)); sentinel != nil {
		return fmt.Errorf("%w: %v", sentinel, err)
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if IsDynamoDBLocal(s.client.Options().BaseEndpoint) {
			return fmt.Errorf("restart the server, which creates the table: DynamoDB Local has forgotten it: %w", err)
		}
		return fmt.Errorf("the table is missing in this region: create it, "+
			"or set the name and the region of one that exists: %w", err)
	}
	return err
}

// transientError returns ErrThrottled if DynamoDB rejected the request because of the request
// rate, and ErrUnreachable for other errors that may disappear by themselves: those that the
// retryer retries, and a host name that doesn't exist, which it doesn't. For all other errors
// it returns nil.
func (s *Store) transientError(err error) error {
	_, noResponse := errors.AsType[*smithyhttp.RequestSendError](err)
	_, refused := errors.AsType[refusedError](err)
	switch {
	case retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary:
		return plants.ErrThrottled
	case noResponse && !refused, s.client.Options().Retryer.IsErrorRetryable(err):
		return plants.ErrUnreachable
	}
	return nil
}
