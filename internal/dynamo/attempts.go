package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/plants"
)

// A request takes at most 7.25 s, when every attempt times out: 6 × 1 s and delays of
// 50, 100, 200, 400 and 500 ms. A server that gives each of its calls 8 s or more can
// still answer in time, unless it is a Delete that sends a second request.
const (
	// maxAttempts applies unless AWS_MAX_ATTEMPTS is set.
	maxAttempts = 6

	// attemptTimeout covers an attempt from the name lookup to the last byte.
	// DynamoDB answers in milliseconds.
	attemptTimeout = time.Second

	// dialTimeout is shorter, so that a failure to connect is not taken for a request
	// without a response.
	dialTimeout = attemptTimeout - 100*time.Millisecond

	// Delays are random. AWS suggests tens of milliseconds for the first; the
	// SDK's is up to 2 s.
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	firstDelay = 50 * time.Millisecond // at most
	maxDelay   = 500 * time.Millisecond
)

// send makes a request by a method of the SDK's client, and repeats it while another
// attempt may succeed. Every request of this package is safe to repeat. It returns the
// result of the last attempt.
//
// The SDK could repeat requests by itself, but wouldn't say what became of the earlier
// attempts, which decides what the last one means. So send also returns, as unclear, the
// error of the last attempt that DynamoDB may have carried out, or may still carry out.
// It is nil without such an attempt.
func send[In, Out any](
	ctx context.Context, c *Client, method func(*dynamodb.Client, context.Context, In, ...func(*dynamodb.Options)) (Out, error), in In,
) (out Out, unclear, err error) {
	for attempt := 1; ; attempt++ {
		earlier := err // of the attempt before, if any
		out, err = method(c.SDK, ctx, in)
		_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
		if err == nil || failed { // DynamoDB works
			c.budget.AddTokens(retry.DefaultNoRetryIncrement) // can't fail
			return out, unclear, err
		}
		if isUnclear(err) {
			unclear = err
		}
		if ctx.Err() != nil && earlier != nil {
			return out, unclear, fmt.Errorf("%w, after an attempt failed: %v", err, earlier)
		}
		if attempt >= c.maxAttempts || !isRetryable(err) {
			return out, unclear, err
		}
		// Without a limit for all calls, a DynamoDB that is down would get six times the load.
		if _, spent := c.budget.GetToken(ctx, retry.DefaultRetryCost); spent != nil {
			return out, unclear, fmt.Errorf("%w, and no retry: %v", err, spent)
		}
		c.log.DebugContext(ctx, "retrying a request to DynamoDB", "attempt", attempt+1, "cause", err.Error())
		select {
		case <-time.After(delay(attempt)):
		case <-ctx.Done():
			return out, unclear, err
		}
	}
}

// delay returns how long to wait after the given attempt, counted from 1.
func delay(attempt int) time.Duration {
	limit := firstDelay
	for range attempt - 1 {
		limit = min(2*limit, maxDelay)
	}
	return rand.N(limit)
}

// isRetryable reports whether another attempt may succeed: after an error that the SDK
// would retry, such as a signature by a wrong clock, which it corrects, or after one that
// has a retryReason.
func isRetryable(err error) bool {
	sdk := retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err)
	return sdk == aws.TrueTernary || sdk == aws.UnknownTernary && retryReason(err) != nil
}

// isUnclear reports whether DynamoDB may have carried out an attempt that returned err,
// or may still carry it out.
func isUnclear(err error) bool {
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
		return false // without a connection nothing was sent
	}
	return retryReason(err) == plants.ErrUnreachable
}

// ifClear returns err, which the last attempt of a request means by itself, if unclear is
// nil. Otherwise it returns ErrUnreachable: an earlier attempt may have acted, or may
// still act, and the caller has to repeat the call to find out.
func ifClear(unclear, err error) error {
	if err == nil || unclear == nil {
		return err
	}
	return fmt.Errorf("%w: %v, after an attempt without a usable response: %v", plants.ErrUnreachable, err, unclear)
}

// storeError maps the error of a request to the errors of [plants.Store], and keeps the
// SDK's text for the log. It returns nil for nil. Any other error, such as access
// denied, is a fault of the service; callers don't test for it.
//
// A mapped error doesn't wrap the SDK's: an attempt that timed out matches
// context.DeadlineExceeded, which callers would take for the end of ctx.
func (c *Client) storeError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if sentinel := cmp.Or(ctx.Err(), retryReason(err)); sentinel != nil {
		return fmt.Errorf("%w: %v", sentinel, err)
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if IsLocal(c.SDK.Options().BaseEndpoint) {
			return fmt.Errorf("restart the server, which creates the table: DynamoDB Local has forgotten it: %w", err)
		}
		return fmt.Errorf("the table is missing: create it, or set the name of one that exists: %w", err)
	}
	return err
}

// retryReason returns why an attempt that returned err deserves a retry. It is
// [plants.ErrThrottled] if DynamoDB refused the attempt because of its rate or of a
// transaction on the same item, or [plants.ErrUnreachable] if there was no usable
// response. It is nil for all other errors, and for nil.
func retryReason(err error) error {
	_, noResponse := errors.AsType[*smithyhttp.RequestSendError](err)
	_, damaged := errors.AsType[*smithy.DeserializationError](err)
	apiErr, _ := errors.AsType[smithy.APIError](err)
	response, _ := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	// The SDK knows all the error codes that DynamoDB documents:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	case retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary,
		apiErr != nil && apiErr.ErrorCode() == "TransactionConflictException":
		return plants.ErrThrottled
	case noResponse, damaged,
		apiErr != nil && apiErr.ErrorCode() == "UnknownError", // an error response without a code
		response != nil && response.HTTPStatusCode() >= http.StatusInternalServerError:
		return plants.ErrUnreachable
	}
	return nil
}
