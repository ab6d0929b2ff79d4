package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

const (
	// idleTimeout closes idle connections before DynamoDB does, since a request
	// on a connection that is being closed costs an attempt. Users report that
	// DynamoDB waits as little as a minute
	// (https://github.com/aws/aws-sdk-java/issues/1365) and that the SDK's 90 s
	// are too long (https://github.com/aws/aws-sdk-go-v2/issues/3423).
	idleTimeout = 30 * time.Second

	// maxIdleConns is enough for a busy server. With the SDK's limit of 10 it
	// would reconnect all the time.
	maxIdleConns = 100
)

// A Client makes requests to DynamoDB, and repeats them. Any number of stores may share
// one. [NewClient] returns one.
type Client struct {
	SDK         *dynamodb.Client // makes single attempts
	maxAttempts int              // of a request
	budget      *ratelimit.TokenRateLimit
	log         *slog.Logger
}

// NewClient returns a client for a [Store], with the settings of awsenv.Config or
// of the SDK's LoadDefaultConfig. It neither connects nor retrieves credentials. An
// error names the invalid setting. The client logs the SDK's messages to log, and at
// level debug the cause of each retry.
//
// An endpoint with the scheme http is DynamoDB Local. There the region and the
// credentials default to "local". DynamoDB Local keeps separate tables for each
// region and access key, unless started with -sharedDb.
func NewClient(cfg aws.Config, log *slog.Logger) (*Client, error) {
	base, ok := cfg.HTTPClient.(*awshttp.BuildableClient) // may have its own certificates
	if !ok {
		base = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = newHTTPClient(base)
	sdk := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{} // send repeats requests
		o.Logger = Logger(log)
		o.DisableValidateResponseChecksum = true // verifyResponse does it
		o.APIOptions = append(o.APIOptions, addMiddleware)
		if IsLocal(o.BaseEndpoint) {
			o.Region = cmp.Or(o.Region, "local")
			if o.Credentials == nil {
				o.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
			}
		}
	})
	if err := validate(sdk.Options()); err != nil {
		return nil, err
	}
	return &Client{
		SDK:         sdk,
		maxAttempts: cmp.Or(cfg.RetryMaxAttempts, maxAttempts), // AWS_MAX_ATTEMPTS
		// With the SDK's numbers it lasts for 100 retries, and each success or failed
		// condition gives back a fifth of one.
		budget: ratelimit.NewTokenRateLimit(retry.DefaultRetryRateTokens),
		log:    log,
	}, nil
}

// newHTTPClient returns a client that connects like base and follows no redirects, since
// they could lead the session token elsewhere. The SDK's own client is slower: it sets
// a deadline for each read.
func newHTTPClient(base *awshttp.BuildableClient) *http.Client {
	dialer, t := base.GetDialer(), base.GetTransport()
	dialer.Timeout = dialTimeout
	t.DialContext = dialer.DialContext
	t.IdleConnTimeout = idleTimeout
	t.MaxIdleConns = maxIdleConns
	t.MaxIdleConnsPerHost = maxIdleConns
	doNotFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, Timeout: attemptTimeout, CheckRedirect: doNotFollow}
}

// IsLocal reports whether endpoint is DynamoDB Local. An endpoint with TLS may
// be AWS, reached from a private network.
func IsLocal(endpoint *string) bool {
	return strings.HasPrefix(strings.ToLower(aws.ToString(endpoint)), "http://")
}

// validate returns an error for settings with which every request would fail.
func validate(o dynamodb.Options) error {
	if endpoint := aws.ToString(o.BaseEndpoint); o.BaseEndpoint != nil && !isEndpoint(endpoint) {
		source := "endpoint_url of the AWS profile"
		for _, variable := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"} { // the last one applies
			if os.Getenv(variable) == endpoint {
				source = variable
			}
		}
		return fmt.Errorf("%s %q is not a valid endpoint URL: use http://HOST:PORT or https://HOST, without user, query and fragment",
			source, withoutSecrets(endpoint))
	}
	if o.Region == "" {
		return errors.New("AWS_REGION is not set: set it to the region of the table, such as eu-central-1")
	}
	if o.Credentials == nil {
		return errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set: set them to the credentials of the program")
	}
	return nil
}

// withoutSecrets returns an invalid endpoint without what may contain a password: user,
// query and fragment.
func withoutSecrets(endpoint string) string {
	if i := strings.LastIndex(endpoint, "@"); i >= 0 {
		endpoint = "…" + endpoint[i:]
	}
	if i := strings.IndexAny(endpoint, "?#"); i >= 0 {
		endpoint = endpoint[:i+1] + "…"
	}
	return endpoint
}

func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// Logger returns a logger of the SDK's messages as structured lines, at level Warn
// or Debug, with the context of the request that they belong to.
func Logger(log *slog.Logger) logging.Logger {
	return sdkLogger{context.Background(), log}
}

type sdkLogger struct {
	ctx context.Context
	log *slog.Logger
}

var _ logging.ContextLogger = sdkLogger{}

// WithContext implements [logging.ContextLogger].
func (l sdkLogger) WithContext(ctx context.Context) logging.Logger {
	return sdkLogger{ctx, l.log}
}

// Logf implements [logging.Logger].
func (l sdkLogger) Logf(class logging.Classification, format string, args ...any) {
	level := slog.LevelWarn
	if class == logging.Debug {
		level = slog.LevelDebug
	}
	l.log.Log(l.ctx, level, "AWS SDK", "detail", fmt.Sprintf(format, args...))
}
