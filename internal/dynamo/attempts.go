package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
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

// newRetryer returns the SDK's retryer with shorter delays. It also repeats requests after
// the errors that transient recognizes. All calls of a client share its budget, which lasts
// for about 100 retries. Without the budget, DynamoDB would get six times the load while it is
// down. The SDK lets a retry cost 14 of 500 units unless DynamoDB throttles: with a tenth of
// the responses lost, creates would soon fail.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RetryCost = retry.DefaultThrottlingRetryCost
		o.Backoff = retry.BackoffDelayerFunc(delay)
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if transientError(err) != nil {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
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

// attempts records the failed attempts of a call. The result of the last attempt alone
// doesn't tell what the call has done.
type attempts struct {
	// mayHaveActed is the error of the last attempt that DynamoDB may have carried out, or
	// may still carry out. It is nil if there was no such attempt.
	mayHaveActed error

	// lastFailure is the error of the last attempt that failed before the call's context
	// ended.
	lastFailure error
}

type attemptsKey struct{}

// withAttempts returns a context for one call of the SDK's client, and the attempts that
// noteAttempt records.
func withAttempts(ctx context.Context) (context.Context, *attempts) {
	a := new(attempts)
	return context.WithValue(ctx, attemptsKey{}, a), a
}

// addNoteAttempt adds noteAttempt to the middleware of a request. It runs inside the SDK's
// retry loop, and after signing, which may itself send requests for credentials. (The SDK's
// own retry.GetAttemptResults loses the error of the last attempt if the context ends during
// a delay.)
func addNoteAttempt(stack *middleware.Stack) error {
	return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("NoteAttempt", noteAttempt), middleware.After)
}

func noteAttempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	connected := false // without a connection, nothing was sent
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	out, metadata, err := next.HandleFinalize(traced, in)
	if a, ok := ctx.Value(attemptsKey{}).(*attempts); ok && err != nil && ctx.Err() == nil {
		a.lastFailure = err
		if connected && transientError(err) == plants.ErrUnreachable {
			a.mayHaveActed = err
		}
		middleware.GetLogger(ctx).Logf(smithylog.Debug, "attempt failed: %v", err) // the SDK's log of retries lacks the cause
	}
	return out, metadata, err
}

// ifCertain returns err, the result of the last attempt, if every earlier attempt is known to
// have failed. Otherwise it returns ErrUnreachable: the caller must repeat the call to learn
// the outcome.
func (a *attempts) ifCertain(err error) error {
	if err == nil || a.mayHaveActed == nil {
		return err
	}
	return a.outcomeUnknown(err)
}

func (a *attempts) outcomeUnknown(err error) error {
	return fmt.Errorf("%w: %v, after an attempt without a usable response: %v", plants.ErrUnreachable, err, a.mayHaveActed)
}

// storeError maps err, the error of a call with the given attempts, to the errors of
// [plants.Store], and keeps the SDK's text for the log. It returns nil for nil. Any other
// error, such as access denied, is a fault of the service.
//
// A mapped error doesn't wrap the SDK's. The error of an attempt that timed out matches
// context.DeadlineExceeded, so callers would think that ctx has ended.
func (s *Store) storeError(ctx context.Context, a *attempts, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && a.lastFailure != nil {
		return fmt.Errorf("%w: %v, after an attempt failed: %v", ctx.Err(), err, a.lastFailure)
	}
	if sentinel := cmp.Or(ctx.Err(), transientError(err)); sentinel != nil {
		return fmt.Errorf("%w: %v", sentinel, err)
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if IsDynamoDBLocal(s.client.Options().BaseEndpoint) {
			return fmt.Errorf("restart the server, which creates the table: DynamoDB Local has forgotten it: %w", err)
		}
		return fmt.Errorf("the table is missing: create it, or set the name of one that exists: %w", err)
	}
	return err
}

// transientError returns the error of [plants.Store] for an attempt that failed with err, if
// another attempt may succeed. It returns ErrThrottled if DynamoDB rejected the attempt
// because of the request rate, ErrUnreachable if there was no usable response, and nil for
// all other errors.
func transientError(err error) error {
	_, noResponse := errors.AsType[*smithyhttp.RequestSendError](err)
	_, unreadable := errors.AsType[*smithy.DeserializationError](err) // for example, the body was cut off
	apiErr, _ := errors.AsType[smithy.APIError](err)
	response, _ := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	// The SDK knows all the error codes that DynamoDB documents:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	case retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary:
		return plants.ErrThrottled
	case noResponse, unreadable,
		apiErr != nil && apiErr.ErrorCode() == "UnknownError", // an error response without a code
		response != nil && response.HTTPStatusCode() >= http.StatusInternalServerError:
		return plants.ErrUnreachable
	}
	return nil
}
