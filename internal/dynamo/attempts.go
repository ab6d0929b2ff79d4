package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

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
	if isUnclear(err) {
		a.unclear = err
	}
	return out, metadata, err
}

// isUnclear reports whether DynamoDB may have carried out an attempt that returned err,
// or may still carry it out.
func isUnclear(err error) bool {
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
		return false // without a connection nothing was sent
	}
	return retryReason(err) == records.ErrUnreachable
}

// ifClear returns err, the result of the last attempt, if it holds for the whole
// call. Otherwise it returns ErrUnreachable: an earlier attempt may have acted, or may
// still act, and the caller has to repeat the call to find out.
func (a *attempts) ifClear(err error) error {
	if err == nil || a.unclear == nil {
		return err
	}
	return fmt.Errorf("%w: %v, after an attempt without a usable response: %v", records.ErrUnreachable, err, a.unclear)
}

// keepCause adds middleware that completes the error of a call whose context ends: the
// SDK drops why the attempt before failed, such as throttling.
func keepCause(stack *middleware.Stack) error {
	var cause error // of this call: each has a stack of its own
	attempt := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
		middleware.FinalizeOutput, middleware.Metadata, error,
	) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		if ctx.Err() == nil {
			cause = err
		}
		return out, metadata, err
	}
	call := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
		middleware.FinalizeOutput, middleware.Metadata, error,
	) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		if err != nil && ctx.Err() != nil && cause != nil {
			err = fmt.Errorf("%w, after an attempt failed: %v", err, cause)
		}
		return out, metadata, err
	}
	return errors.Join(
		stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("KeepCauseOfAttempt", attempt), "Retry", middleware.After),
		stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("KeepCause", call), "Retry", middleware.Before))
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
	if sentinel := cmp.Or(ctx.Err(), retryReason(err)); sentinel != nil {
		return fmt.Errorf("%w: %v", sentinel, err)
	}
	if _, ok := errors.AsType[forgotten](err); ok {
		return fmt.Errorf("restart the server, which creates the table: DynamoDB Local has forgotten it: %w", err)
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("the table is missing: create it, or set the name of one that exists: %w", err)
	}
	return err
}

// retryReason returns why an attempt that returned err deserves a retry. It is
// [records.ErrThrottled] if DynamoDB refused the attempt because of its rate or of a
// transaction on the same item, or [records.ErrUnreachable] if there was no usable
// response. It is nil for all other errors, which are final, and for nil.
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
		return records.ErrThrottled
	case noResponse, damaged,
		apiErr != nil && apiErr.ErrorCode() == "UnknownError", // an error response without a code
		response != nil && response.HTTPStatusCode() >= http.StatusInternalServerError:
		return records.ErrUnreachable
	}
	return nil
}
