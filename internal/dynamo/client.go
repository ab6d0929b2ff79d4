package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithylog "github.com/aws/smithy-go/logging"
)

// sourceTimeout limits a request to a source of credentials, such as STS. All calls wait for the same
// request, and the SDK sets no limit: one that hangs would hang them all. Tests change it.
var sourceTimeout = 5 * time.Second

// NewClientFromEnv returns the client that [NewClient] makes of the AWS settings. The SDK finds
// them in the environment, in shared files with their profiles and SSO sessions, and in the roles
// of containers and instances. NewClientFromEnv connects only if AWS_DEFAULTS_MODE is auto: then the
// SDK asks the metadata service of an instance for its region.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/creds-config-files.html
func NewClientFromEnv(ctx context.Context, log *slog.Logger) (*dynamodb.Client, error) {
	// The SDK's messages while it looks for credentials are useful only for debugging. If it
	// finds none, it returns an error.
	debug := smithylog.LoggerFunc(func(_ smithylog.Classification, format string, args ...any) {
		sdkLogger{ctx, log}.Logf(smithylog.Debug, format, args...)
	})
	sourceClient := awshttp.NewBuildableClient().WithTimeout(sourceTimeout)
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(debug), config.WithHTTPClient(sourceClient),
		// The SDK doesn't pass the client on to the sources of containers' credentials.
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = sourceClient }))
	if err != nil {
		return nil, fmt.Errorf("AWS settings: %w", err)
	}
	return NewClient(cfg, log)
}

// NewClient returns a client for a [Store]. It neither connects nor retrieves credentials.
// An error names the invalid setting. The client repeats failed requests, and logs the
// SDK's messages and, at level debug, why attempts failed.
//
// For DynamoDB Local, the region and the credentials default to "local". It keeps separate tables for each
// region and access key, unless started with -sharedDb.
func NewClient(cfg aws.Config, log *slog.Logger) (*dynamodb.Client, error) {
	// Only the transport of cfg's HTTP client is used, since AWS_CA_BUNDLE may add certificates to it. Its
	// time-out isn't: that is for the sources of credentials.
	base, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		base = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = newHTTPClient(base)
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer()
		o.Logger = sdkLogger{context.Background(), log}
		// DynamoDB Local sends no checksum with errors, so each failed condition would cause a
		// warning. TLS protects responses anyway.
		o.DisableValidateResponseChecksum = true
		o.APIOptions = append(o.APIOptions, addExplanation)
		if IsDynamoDBLocal(o.BaseEndpoint) {
			o.Region = cmp.Or(o.Region, "local")
			// Without credentials, the SDK requests the role of an EC2 instance, which takes
			// seconds to fail on other machines.
			if o.Credentials == nil || aws.IsCredentialsProvider(o.Credentials, (*ec2rolecreds.Provider)(nil)) {
				o.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
			}
		}
	})
	if err := validate(client.Options()); err != nil {
		return nil, err
	}
	return client, nil
}

// IsDynamoDBLocal reports whether endpoint is DynamoDB Local, that is, has the scheme http and
// isn't at amazonaws.com. An endpoint with TLS may be AWS, reached from a private network.
func IsDynamoDBLocal(endpoint *string) bool {
	address := strings.ToLower(aws.ToString(endpoint))
	return strings.HasPrefix(address, "http://") && !strings.Contains(address, ".amazonaws.com")
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
		value := fmt.Sprintf(" %q", endpoint)
		if strings.ContainsAny(endpoint, "@?#") { // not printed, since it may contain a password
			value = ""
		}
		return fmt.Errorf("%s%s is not a valid endpoint URL: "+
			"use http://HOST:PORT or https://HOST, without user, query and fragment", source, value)
	}
	if o.Region == "" {
		return errors.New("AWS_REGION is not set: set it to the region of the table, such as eu-central-1")
	}
	return nil
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

// An sdkLogger writes the SDK's messages as structured lines, at level Warn or Debug, with
// the attributes of their request.
type sdkLogger struct {
	ctx context.Context
	log *slog.Logger
}

var _ smithylog.ContextLogger = sdkLogger{}

// WithContext implements [smithylog.ContextLogger].
func (l sdkLogger) WithContext(ctx context.Context) smithylog.Logger {
	return sdkLogger{ctx, l.log}
}

// Logf implements [smithylog.Logger].
func (l sdkLogger) Logf(class smithylog.Classification, format string, args ...any) {
	level := slog.LevelWarn
	if class == smithylog.Debug {
		level = slog.LevelDebug
	}
	l.log.Log(l.ctx, level, "AWS SDK", "detail", fmt.Sprintf(format, args...))
}
