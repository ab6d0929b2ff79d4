// Package sdkconfig sets up a client of DynamoDB with all that the SDK for Go
// looks for: the environment, files of settings, profiles, the roles of
// containers and instances. It is for programs on machines of any kind; where
// the environment says everything, as on Lambda, dynamo.NewClient does with
// less.
package sdkconfig

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
)

// NewClient returns a client for a [dynamo.Store], set up as every AWS program
// is. It looks nothing up and connects nowhere; an error says what is wrong
// with the settings. See [dynamo.NewClientFromConfig] for the logger, which may
// be nil, and for DynamoDB Local.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/creds-config-files.html
func NewClient(ctx context.Context, logger *slog.Logger) (*dynamodb.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(dynamo.SDKLogger(ctx, logger)))
	if err != nil {
		return nil, fmt.Errorf("settings of AWS: %w", err)
	}
	client, err := dynamo.NewClientFromConfig(cfg, logger)
	// The role of an EC2 instance is what is left when nothing is configured.
	// On any other machine it takes seconds to find out that there is none.
	if err == nil && dynamo.IsLocal(client) && aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) {
		cfg.Credentials = nil
		return dynamo.NewClientFromConfig(cfg, logger)
	}
	return client, err
}
