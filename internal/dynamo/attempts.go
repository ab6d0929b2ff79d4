package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/records"
)

// attempts observes the attempts of one call. The SDK retries on its own and
// reports only the last attempt, but what happened to the earlier ones decides
// what the last one means.
type attempts struct {
	// unclear is the error of the last attempt that DynamoDB may have carried out,
	// or may still carry out. It is nil without such an attempt.
	unclear error
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
	out, metadata, err := next.HandleFinalize(ctx, in)
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
		return out, metadata, err // without a connection nothing was sent
	}
	if unavailable(err) == records.ErrUnreachable {
		a.unclear = err
	}
	return out, metadata, err
}

// ifClear returns err, the result of the last attempt, if it holds for the whole
// call. Otherwise it returns ErrUnreachable: an earlier attempt may have acted, or may
// still act, and the caller has to repeat the call to find out.
func (a *attempts) ifClear(err error) error {
	if err != nil && a.unclear != nil {
		return fmt.Errorf("%w: %v, after an attempt without a usable response: %v", records.ErrUnreachable, err, a.unclear)
	}
	return err
}

// storeError maps the error of a call to the errors of [records.Store], and keeps the
// SDK's text for the log. It returns nil for nil. Any other error, such as access
// denied, is a fault of the service; callers don't test for it.
//
// A mapped error doesn't wrap the SDK's: an attempt that timed out matches
// context.DeadlineExceeded, which callers would take for the end of ctx.
func storeError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if sentinel := cmp.Or(ctx.Err(), unavailable(err)); sentinel != nil {
		return fmt.Errorf("%w: %v", sentinel, err)
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("the table is missing: create it, or set the name of one that exists: %w", err)
	}
	return err
}

// unavailable returns why an attempt deserves a retry: [records.ErrThrottled] if
// DynamoDB refused it because of its rate or of a transaction on the same item, or
// [records.ErrUnreachable] if it got no usable response. It returns nil for the other
// errors, which are final.
func unavailable(err error) error {
	_, noResponse := errors.AsType[*smithyhttp.RequestSendError](err)
	_, damaged := errors.AsType[*smithy.DeserializationError](err)
	apiErr, _ := errors.AsType[smithy.APIError](err)
	canceled, _ := errors.AsType[*types.TransactionCanceledException](err)
	response, _ := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	// The SDK knows all the error codes that DynamoDB documents:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	case retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary,
		apiErr != nil && apiErr.ErrorCode() == "TransactionConflictException",
		canceled != nil && slices.ContainsFunc(canceled.CancellationReasons, temporary):
		return records.ErrThrottled
	case noResponse, damaged,
		apiErr != nil && apiErr.ErrorCode() == "UnknownError", // an error response without a code
		response != nil && response.HTTPStatusCode() >= http.StatusInternalServerError:
		return records.ErrUnreachable
	}
	return nil
}

// temporary reports whether a transaction was canceled for a reason that passes, such as
// a conflict with another one. A failed condition is final. The store has no transactions
// yet; docs/extending.md shows where one is needed.
func temporary(reason types.CancellationReason) bool {
	switch aws.ToString(reason.Code) {
	case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		return true
	}
	return false
}
