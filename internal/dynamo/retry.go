package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
// connections hang, which takes up to connectTimeout each, the request lasts until its context ends.
const (
	// maxAttempts applies unless AWS_MAX_ATTEMPTS is set.
	maxAttempts = 6

	// maxDelay limits the SDK's random delays. Their own limits are 50, 100, 200, … ms or, after
	// throttling, 1, 2, … s.
	maxDelay = 500 * time.Millisecond
)

// newRetryer returns the SDK's retryer with shorter delays and more retryable errors. The retries of all
// calls share a budget of 500 units. Without it, DynamoDB would get six times the load while it is down. A
// retry costs 5 units. With the SDK's 14, creates would soon fail if a tenth of the responses were lost.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RetryCost = 5
		o.MaxBackoff = maxDelay
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

// retryableCodes are error codes after which a retry may succeed, although the SDK gives up. Left
// out, although DynamoDB's documentation allows retries: UnrecognizedClientException, which means
// wrong credentials, and an error that only tables with a local index have.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var retryableCodes = map[string]struct{}{
	"ReplicatedWriteConflictException": {}, // a write in another region, with strong consistency between regions
	"TransactionConflictException":     {}, // somebody else's transaction, such as an operator's
	"UnknownError":                     {}, // the SDK's code if the response has none, for example from a proxy
}

// addExplanation adds explainFailures to a call, around the SDK's retries.
func addExplanation(stack *middleware.Stack) error {
	f := middleware.FinalizeMiddlewareFunc("ExplainFailures", explainFailures)
	return stack.Finalize.Insert(f, "Retry", middleware.Before)
}

// explainFailures logs why attempts failed, which the SDK's log of retries doesn't say. If ctx ends, the
// SDK's last error says only that. So explainFailures adds the error of the last attempt but one, if any.
func explainFailures(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	attempts, _ := retry.GetAttemptResults(metadata)
	for _, attempt := range attempts.Results {
		if attempt.Err != nil {
			middleware.GetLogger(ctx).Logf(smithylog.Debug, "attempt failed: %v", attempt.Err)
		}
	}
	if last := len(attempts.Results) - 1; last > 0 && err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w, after an attempt failed: %v", err, attempts.Results[last-1].Err)
	}
	return out, metadata, err
}

// storeError maps err, the error of a call, to the errors of [plants.Store], and keeps the SDK's
// text for the log. It returns nil for nil. Any other error, such as access denied, is a fault of
// the service.
//
// A mapped error doesn't wrap the SDK's. The error of an attempt that timed out matches
// context.DeadlineExceeded, so callers would think that ctx has ended.
func (s *Store) storeError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // first, since it may be what made the SDK give up
		return fmt.Errorf("%w: %v", ctx.Err(), err)
	case isThrottled(err):
		return fmt.Errorf("%w: %v", plants.ErrThrottled, err)
	case s.isUnreachable(err):
		return fmt.Errorf("%w: %v", plants.ErrUnreachable, err)
	}
	if _, noTable := errors.AsType[*types.ResourceNotFoundException](err); !noTable {
		return err
	}
	if IsDynamoDBLocal(s.client.Options().BaseEndpoint) {
		return fmt.Errorf("restart the server, which creates the table: DynamoDB Local has forgotten it: %w", err)
	}
	return fmt.Errorf("the table is missing in this region: create it, "+
		"or set the name and the region of one that exists: %w", err)
}

var tooManyRequests = retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}}

// isThrottled reports whether DynamoDB, or a source of credentials, gets too many requests.
func isThrottled(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary ||
		tooManyRequests.IsErrorRetryable(err) == aws.TrueTernary // from a source of credentials
}

// isUnreachable reports whether DynamoDB, or a source of credentials, has failed to respond as it should.
func (s *Store) isUnreachable(err error) bool {
	_, noResponse := errors.AsType[*smithyhttp.RequestSendError](err)
	return noResponse || // also for an unknown host, which the retryer doesn't retry
		s.client.Options().Retryer.IsErrorRetryable(err) || // whatever else a retry may mend
		errors.Is(err, context.DeadlineExceeded) // a source of credentials took too long
}
