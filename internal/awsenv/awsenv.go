// Package awsenv reads the AWS settings of a Lambda function, which has all of them
// in its environment.
package awsenv

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Config returns the settings for the SDK's clients: region, credentials, endpoint,
// account id, FIPS, dual stack and the number of attempts. It reads them as the SDK's
// config package does, but without the clients of AWS's sign-in services that importing
// that package initializes, at the cost of each cold start.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
func Config() (aws.Config, error) {
	keys := aws.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		AccountID:       os.Getenv("AWS_ACCOUNT_ID"),
	}
	ignore, err1 := parseBool("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", true, false)
	fips, err2 := parseBool("AWS_USE_FIPS_ENDPOINT", aws.FIPSEndpointStateEnabled, aws.FIPSEndpointStateDisabled)
	dualStack, err3 := parseBool("AWS_USE_DUALSTACK_ENDPOINT", aws.DualStackEndpointStateEnabled, aws.DualStackEndpointStateDisabled)
	attempts, err4 := strconv.Atoi(cmp.Or(os.Getenv("AWS_MAX_ATTEMPTS"), "0"))
	if err4 != nil {
		err4 = fmt.Errorf("AWS_MAX_ATTEMPTS: %w", err4)
	}
	cfg := aws.Config{
		Region:                cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		AccountIDEndpointMode: aws.AccountIDEndpointMode(cmp.Or(os.Getenv("AWS_ACCOUNT_ID_ENDPOINT_MODE"), aws.AccountIDEndpointModePreferred)),
		RetryMaxAttempts:      attempts,
		ConfigSources:         []any{source{ignore, fips, dualStack}},
	}
	if keys.HasKeys() {
		cfg.Credentials = credentials.StaticCredentialsProvider{Value: keys}
	}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" && !ignore {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg, cmp.Or(err1, err2, err3, err4)
}

// parseBool returns ifTrue or ifFalse, as the environment variable with the given
// name says, or T's zero value if it is unset.
func parseBool[T any](name string, ifTrue, ifFalse T) (value T, err error) {
	switch v := os.Getenv(name); strings.ToLower(v) {
	case "true":
		value = ifTrue
	case "false":
		value = ifFalse
	case "":
	default:
		err = fmt.Errorf("%s=%q: use true or false", name, v)
	}
	return value, err
}

// A source has the settings that the SDK's clients ask for by these methods.
type source struct {
	ignoreEndpoints bool
	fips            aws.FIPSEndpointState
	dualStack       aws.DualStackEndpointState
}

func (s source) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return s.fips, true, nil
}

func (s source) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return s.dualStack, true, nil
}

// GetServiceBaseEndpoint returns, for example, AWS_ENDPOINT_URL_DYNAMODB.
func (s source) GetServiceBaseEndpoint(_ context.Context, service string) (string, bool, error) {
	endpoint := os.Getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	return endpoint, endpoint != "" && !s.ignoreEndpoints, nil
}
