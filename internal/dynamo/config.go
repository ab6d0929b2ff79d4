package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// EnvConfig returns the AWS settings in the environment, which has all of them on
// Lambda: region, credentials, endpoint, FIPS, dual stack, account id and maximum
// attempts. It looks for them nowhere else. A program that doesn't call
// [LoadConfig] doesn't link the code that would, and starts faster.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
func EnvConfig() (aws.Config, error) {
	env, err := config.NewEnvConfig()
	if err != nil {
		return aws.Config{}, fmt.Errorf("AWS settings: %w", err)
	}
	cfg := aws.Config{
		Region:                env.Region,
		RetryMaxAttempts:      env.RetryMaxAttempts,
		AccountIDEndpointMode: cmp.Or(env.AccountIDEndpointMode, aws.AccountIDEndpointModePreferred), // the SDK's default
		ConfigSources:         []any{env},                                                            // for AWS_ENDPOINT_URL_DYNAMODB, FIPS and dual stack
	}
	if env.BaseEndpoint != "" && !aws.ToBool(env.IgnoreConfiguredEndpoints) {
		cfg.BaseEndpoint = &env.BaseEndpoint
	}
	if env.Credentials.HasKeys() {
		cfg.Credentials = credentials.StaticCredentialsProvider{Value: env.Credentials}
	}
	return cfg, nil
}

// LoadConfig returns the AWS settings that the SDK finds on any machine: in the
// environment, in shared files with their profiles and SSO sessions, and in the
// roles of containers and instances. It logs the SDK's messages to log.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/creds-config-files.html
func LoadConfig(ctx context.Context, log *slog.Logger) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(sdkLogger{ctx, log}))
	if err != nil {
		return aws.Config{}, fmt.Errorf("AWS settings: %w", err)
	}
	// Without any credentials the SDK asks for the role of an EC2 instance,
	// which takes seconds to fail on other machines. NewClient sets credentials
	// for DynamoDB Local.
	if isLocal(dynamodb.NewFromConfig(cfg).Options().BaseEndpoint) &&
		aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) {
		cfg.Credentials = nil
	}
	return cfg, nil
}
