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
)

// endpointVariable is the SDK's variable for DynamoDB Local's address.
const endpointVariable = "AWS_ENDPOINT_URL_DYNAMODB"

// dynamoDBVariables returns the variables that matter with DynamoDB, for the list that the
// program prints.
func dynamoDBVariables() (names []string) {
	for _, table := range config.Tables {
		names = append(names, table.Variable)
	}
	return append(names, endpointVariable, "AWS_REGION", "AWS_PROFILE")
}

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
	settings, err := loadSettings(ctx, log)
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClient(settings, log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	where := "DynamoDB"
	// For AWS itself BaseEndpoint is nil: no variable sets it, or the SDK is told to ignore
	// the variable. Without credentials, prepareTable would then fail with less advice.
	if endpoint := client.SDK.Options().BaseEndpoint; endpoint != nil {
		where += " at " + *endpoint // without password: NewClient has checked it
	} else if _, err := client.SDK.Options().Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("-store dynamodb: no AWS credentials: run aws configure or set AWS_PROFILE, "+
			"or set %s to use DynamoDB Local: %w", endpointVariable, err)
	}
	where += ", region " + client.SDK.Options().Region
	for _, table := range config.Tables {
		name := cfg.TableNames[table]
		if err := prepareTable(ctx, client, name, table.Variable); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		where += ", table " + name
	}
	return &stores{
		plants: dynamo.New(client, cfg.TableNames[config.PlantTable]),
		close:  func() error { return nil },
		where:  where,
	}, nil
}

// prepareTable creates a missing table on DynamoDB Local. On AWS it only checks that
// the program can use the table, whose name is in the given variable.
func prepareTable(ctx context.Context, client *dynamo.Client, name, variable string) error {
	if dynamo.IsLocal(client.SDK.Options().BaseEndpoint) {
		err := dynamo.EnsureTable(ctx, client, name)
		if noResponse(err) {
			return fmt.Errorf("is DynamoDB Local running? %w", err)
		}
		return err
	}
	err := dynamo.Probe(ctx, client, name)
	if noResponse(err) {
		return fmt.Errorf("check the connection and AWS_REGION: %w", err)
	}
	if err != nil {
		return fmt.Errorf("table %q: %w: set %s and AWS_REGION to a table of this service that these credentials may use", name, err, variable)
	}
	return nil
}

func noResponse(err error) bool {
	return errors.Is(err, plants.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded)
}

// loadSettings returns the AWS settings that the SDK finds on any machine: in the
// environment, in shared files with their profiles and SSO sessions, and in the
// roles of containers and instances.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/creds-config-files.html
func loadSettings(ctx context.Context, log *slog.Logger) (aws.Config, error) {
	// What the SDK says while it looks for credentials helps only to debug: if it finds
	// none, the error says so.
	debug := logging.LoggerFunc(func(_ logging.Classification, format string, args ...any) {
		dynamo.Logger(log).Logf(logging.Debug, format, args...)
	})
	settings, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithLogger(debug))
	if err != nil {
		return aws.Config{}, fmt.Errorf("AWS settings: %w", err)
	}
	// Without any credentials the SDK asks for the role of an EC2 instance,
	// which takes seconds to fail on other machines. NewClient sets credentials
	// for DynamoDB Local.
	if dynamo.IsLocal(dynamodb.NewFromConfig(settings).Options().BaseEndpoint) &&
		aws.IsCredentialsProvider(settings.Credentials, (*ec2rolecreds.Provider)(nil)) {
		settings.Credentials = nil
	}
	return settings, nil
}
