package dynamo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// How a call is tried. At worst, when every attempt times out, it takes 7.25 s:
// 6 × 1 s and waits of 50, 100, 200, 400 and 500 ms. That leaves a server with
// a budget of 8 s or more per request the time to answer.
const (
	// maxAttempts is what AWS_MAX_ATTEMPTS and the SDK's files may override.
	maxAttempts = 6

	// DynamoDB answers in milliseconds. An attempt that takes a second, from
	// looking up the name to the last byte, is better made anew.
	attemptTimeout = time.Second

	// The wait before an attempt is random, up to baseDelay doubled for each
	// attempt before and at most maxDelay. The SDK's own is up to 2 s the
	// first time; DynamoDB's documentation advises tens of milliseconds:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
	baseDelay = 50 * time.Millisecond
	maxDelay  = 500 * time.Millisecond
)

const (
	// idleTimeout closes connections before the service does, which users see
	// after as little as a minute (github.com/aws/aws-sdk-java/issues/1365)
	// and the SDK's 90 s miss (github.com/aws/aws-sdk-go-v2/issues/3423): a
	// request on a connection that is being closed costs an attempt.
	idleTimeout = 30 * time.Second

	// maxIdleConns is for one host, which is all there is. The SDK keeps 10
	// and makes a server with more requests at once connect again and again.
	maxIdleConns = 100
)

// NewClientFromConfig returns a client for a [Store] with settings that the
// caller has loaded or made; [NewClient] and package sdkconfig do. It looks
// nothing up and connects nowhere; an error says what is wrong with the
// settings. What the SDK has to say goes to logger, or to [slog.Default] if
// that is nil, at the level Warn or Debug.
//
// With DynamoDB Local nothing but the endpoint is needed, see [IsLocal]: the
// region is "local" where none is set, and key and secret are "local" where
// there are no credentials. DynamoDB Local keeps the tables of each region and
// key apart, so other tools must use the same to see them.
func NewClientFromConfig(cfg aws.Config, logger *slog.Logger) (*dynamodb.Client, error) {
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer()
		// The SDK's client is changed rather than replaced, since it may carry
		// the certificates of AWS_CA_BUNDLE.
		if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = tune(c)
		}
		o.Logger = SDKLogger(context.Background(), logger)
		o.ClientLogMode |= aws.LogRetries
		if isLocal(o.BaseEndpoint) {
			setUpLocal(o)
		}
	})
	if err := check(client.Options()); err != nil {
		return nil, err
	}
	return client, nil
}

// newRetryer returns the SDK's standard retryer with our numbers.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(backoff)
		// The SDK's quota of retries would outlast a fault: a hundred failed
		// retries empty it, and from then on a hiccup is an error unless five
		// or ten requests before it went well at once. What bounds the load
		// that we add in a bad time is the number of attempts.
		o.RateLimiter = ratelimit.None
		// Everything that the store asks for can be asked again.
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if unreadable(err) {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})
}

// backoff returns the time to wait after the given attempt, the first being 1.
func backoff(attempt int, _ error) (time.Duration, error) {
	doublings := min(max(attempt-1, 0), 10)
	return rand.N(min(baseDelay<<doublings, maxDelay)), nil
}

func tune(c *awshttp.BuildableClient) *awshttp.BuildableClient {
	return c.WithTimeout(attemptTimeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = attemptTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.IdleConnTimeout = idleTimeout
			t.MaxIdleConns = maxIdleConns
			t.MaxIdleConnsPerHost = maxIdleConns
		})
}

// IsLocal reports whether the client is set to DynamoDB Local or the like: an
// endpoint of its own, without TLS. An endpoint with TLS may be AWS itself, as
// it is seen from a private network.
func IsLocal(client *dynamodb.Client) bool {
	return isLocal(client.Options().BaseEndpoint)
}

func isLocal(endpoint *string) bool {
	if endpoint == nil {
		return false
	}
	u, err := url.Parse(*endpoint)
	return err == nil && u.Scheme == "http"
}

// setUpLocal fills in what DynamoDB Local demands and doesn't check.
func setUpLocal(o *dynamodb.Options) {
	if o.Region == "" {
		o.Region = "local"
	}
	if o.Credentials == nil {
		o.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	// DynamoDB Local sends no checksum with an error, of which the SDK would
	// warn whenever a condition fails.
	o.DisableValidateResponseChecksum = true
}

// check finds what would otherwise be an error of every request.
func check(o dynamodb.Options) error {
	if o.BaseEndpoint != nil {
		u, err := url.Parse(*o.BaseEndpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("AWS_ENDPOINT_URL_DYNAMODB: %q is no address of a server: use http://HOST:PORT", *o.BaseEndpoint)
		}
	}
	if o.Region == "" {
		return errors.New("AWS_REGION is not set: set it to the region of the table, such as eu-central-1")
	}
	return nil
}
