package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/plants"
)

// failure turns the error of a call into one that [plants.Store] names, with
// the SDK's text kept for the log. Any other error is a fault of ours (access
// denied, no such table) and is returned as it is. It returns nil for nil.
//
// Where there is a sentinel the SDK's error itself is left out of the chain: an
// attempt that timed out matches context.DeadlineExceeded, which callers take
// for the end of the request's own time.
func (a *attempts) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		if a.last != nil {
			err = a.last // why there was still something to wait for
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

// throttled reports whether DynamoDB refused a request for its rate. It goes by
// the SDK's list of codes, which has every one that DynamoDB documents:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
func throttled(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// refused reports whether err is an answer that says that nothing was done.
func refused(err error) bool {
	status := statusCode(err)
	return throttled(err) || status >= 400 && status < 500
}

// unanswered reports whether a request ended without an answer that says
// anything: not sent, cut off, timed out, a fault of the server's, or nothing
// that can be read.
func unanswered(err error) bool {
	if _, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return unreadable(err) || statusCode(err) >= 500
}

// unreadable reports whether err is an answer that breaks off or makes no sense.
func unreadable(err error) bool {
	_, ok := errors.AsType[*smithy.DeserializationError](err)
	return ok
}

// statusCode returns the HTTP status of the answer that err is, or 0.
func statusCode(err error) int {
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok {
		return 0
	}
	return answer.HTTPStatusCode()
}
