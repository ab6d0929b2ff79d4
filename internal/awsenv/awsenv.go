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
// account id, FIPS, dual stack and the number of attempts. It reads the usual variables
// of the SDK's config package. Importing that package would initialize clients of AWS's
// sign-in services, at the cost of each cold start.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
func Config() (aws.Config, error) {
	keys := aws.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		AccountID:       os.Getenv("AWS_ACCOUNT_ID"),
	}
	attempts, err1 := parse("AWS_MAX_ATTEMPTS", strconv.Atoi)
	fips, err2 := parse("AWS_USE_FIPS_ENDPOINT", strconv.ParseBool)
	dualStack, err3 := parse("AWS_USE_DUALSTACK_ENDPOINT", strconv.ParseBool)
	cfg := aws.Config{
		Region:                os.Getenv("AWS_REGION"),
		AccountIDEndpointMode: aws.AccountIDEndpointMode(cmp.Or(os.Getenv("AWS_ACCOUNT_ID_ENDPOINT_MODE"), aws.AccountIDEndpointModePreferred)),
		RetryMaxAttempts:      attempts,
		ConfigSources:         []any{source{fips, dualStack}},
	}
	if keys.HasKeys() {
		cfg.Credentials = credentials.StaticCredentialsProvider{Value: keys}
	}
	if endpoint := os.Getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg, cmp.Or(err1, err2, err3)
}

// parse parses the environment variable with the given name, if it is set.
func parse[T any](name string, convert func(string) (T, error)) (value T, err error) {
	if v := os.Getenv(name); v != "" {
		if value, err = convert(v); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return value, err
}

// A source has the settings that the SDK's clients ask for by these methods. The clients
// ignore a value that is not found, and use the SDK's default: no FIPS, no dual stack.
type source struct{ fips, dualStack bool }

func (s source) GetUseFIPSEndpoint(context.Context) (state aws.FIPSEndpointState, found bool, err error) {
	return aws.FIPSEndpointStateEnabled, s.fips, nil
}

func (s source) GetUseDualStackEndpoint(context.Context) (state aws.DualStackEndpointState, found bool, err error) {
	return aws.DualStackEndpointStateEnabled, s.dualStack, nil
}

// GetServiceBaseEndpoint returns, for example, AWS_ENDPOINT_URL_DYNAMODB. The names of
// the services here have no spaces, which would have to become underscores.
func (source) GetServiceBaseEndpoint(_ context.Context, service string) (endpoint string, found bool, err error) {
	endpoint = os.Getenv("AWS_ENDPOINT_URL_" + strings.ToUpper(service))
	return endpoint, endpoint != "", nil
}
