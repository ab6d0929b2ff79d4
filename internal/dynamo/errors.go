package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/plants"
)

// failure maps the error of a call to the errors of [plants.Store], and keeps
// the SDK's text for the log. It returns nil for nil. Any other error, such as
// access denied or a missing table, is a fault of the service and is returned
// unchanged.
//
// A mapped error doesn't wrap the SDK's: an attempt that timed out matches
// context.DeadlineExceeded, which callers would take for the end of ctx.
func (a *attempts) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		if a.last != nil {
			err = a.last // the reason for the retry that ctx interrupted
		}
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	case throttled(err):
		return fmt.Errorf("%w: %v", plants.ErrThrottled, err)
	case unanswered(err):
		return fmt.Errorf("%w: %v", plants.ErrUnreachable, err)
	default:
		return err
	}
}

// throttled reports whether DynamoDB rejected a request because of its rate.
// The SDK's list has all the error codes that DynamoDB documents:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
func throttled(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// refused reports whether err is an answer that means that nothing was done.
func refused(err error) bool {
	status := statusCode(err)
	return throttled(err) || status >= 400 && status < 500 && !unreadable(err)
}

// unanswered reports whether a request got no meaningful answer: it wasn't
// sent, was cut off, timed out, or failed with a server error.
func unanswered(err error) bool {
	_, notSent := errors.AsType[*smithyhttp.RequestSendError](err)
	return notSent || unreadable(err) || statusCode(err) >= 500
}

// unreadable reports whether err is an answer that says nothing: damaged,
// malformed, or an error without a code, which the SDK calls UnknownError.
func unreadable(err error) bool {
	_, damaged := errors.AsType[*smithy.DeserializationError](err)
	answer, ok := errors.AsType[smithy.APIError](err)
	return damaged || ok && answer.ErrorCode() == "UnknownError"
}

// statusCode returns the HTTP status of the answer in err, or 0.
func statusCode(err error) int {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}
