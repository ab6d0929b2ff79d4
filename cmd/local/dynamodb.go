package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
)

// endpointVariable is the SDK's variable for DynamoDB Local's address.
const endpointVariable = "AWS_ENDPOINT_URL_DYNAMODB"

// defaultStore returns the store to use if the user names none.
func defaultStore(getenv func(string) string) string {
	if getenv(endpointVariable) != "" {
		return "dynamodb"
	}
	return "bolt"
}

// startTimeout limits the wait for credentials and a table. It changes in tests.
var startTimeout = 10 * time.Second

func openDynamoDB(ctx context.Context, _ options, cfg config.Config, log *slog.Logger) (*stores, error) {
	settings, err := loadConfig(ctx, log)
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClient(settings, log)
	if err != nil {
		return nil, err
	}
	where := "DynamoDB"
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// Not the variable, which the SDK can be told to ignore.
	if endpoint := client.Options().BaseEndpoint; endpoint == nil {
		if _, err := client.Options().Credentials.Retrieve(ctx); err != nil {
			return nil, fmt.Errorf("-store dynamodb: no AWS credentials: run aws configure or set AWS_PROFILE, "+
				"or set %s to use DynamoDB Local: %w", endpointVariable, err)
		}
	} else {
		where += " at " + *endpoint // without password: NewClient has checked it
	}
	for _, table := range cfg.Tables {
		err := dynamo.EnsureTable(ctx, client, table)
		if errors.Is(err, records.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("%s: is DynamoDB Local running? %w", where, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	return &stores{
		plants: dynamo.New[plants.Plant](client, cfg.Tables[config.PlantTable]),
		close:  func() error { return nil },
		where:  where,
	}, nil
}

// loadConfig returns the AWS settings that the SDK finds on any machine: in the
// environment, in shared files with their profiles and SSO sessions, and in the
// roles of containers and instances.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/creds-config-files.html
func loadConfig(ctx context.Context, log *slog.Logger) (aws.Config, error) {
	// What the SDK says while it looks for credentials helps only to debug: if it finds
	// none, the error says so.
	debug := logging.LoggerFunc(func(_ logging.Classification, format string, args ...any) {
		dynamo.Logger(log).Logf(logging.Debug, format, args...)
	})
	cfg, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithLogger(debug))
	if err != nil {
		return aws.Config{}, fmt.Errorf("AWS settings: %w", err)
	}
	// Without any credentials the SDK asks for the role of an EC2 instance,
	// which takes seconds to fail on other machines. NewClient sets credentials
	// for DynamoDB Local.
	if dynamo.IsLocal(dynamodb.NewFromConfig(cfg).Options().BaseEndpoint) &&
		aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) {
		cfg.Credentials = nil
	}
	return cfg, nil
}
