// Command hook is the Lambda function that CodeDeploy calls before a new version
// of the plant store gets traffic. It invokes the new version and reports to
// CodeDeploy whether the deployment may go on.
//
// https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html#appspec-hooks-lambda
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"

	"example.com/plantstore/internal/logging"
)

func main() {
	h, err := setUp(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hook:", err)
		os.Exit(1)
	}
	lambda.Start(h.handle)
}

// setUp returns the hook of the version in the variable NEW_VERSION, an ARN.
func setUp(ctx context.Context) (*hook, error) {
	version := os.Getenv("NEW_VERSION")
	if version == "" {
		return nil, errors.New("NEW_VERSION is not set: set it to the ARN of the new version")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return &hook{
		version:    version,
		function:   lambdaclient.NewFromConfig(cfg),
		deployment: codedeploy.NewFromConfig(cfg),
		log:        logging.New(os.Stdout, slog.LevelInfo),
	}, nil
}
