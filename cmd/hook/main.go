// Command hook is the Lambda function that CodeDeploy calls before a new version
// of the plant store gets traffic. It invokes the new version and reports to
// CodeDeploy whether the deployment may go on.
//
// https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html#appspec-hooks-lambda
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"

	"example.com/plantstore/internal/config"
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

// setUp returns the hook of the version in [config.NewVersion].
func setUp(ctx context.Context) (*hook, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return &hook{
		version:    os.Getenv(config.NewVersion),
		function:   lambdaclient.NewFromConfig(cfg),
		deployment: codedeploy.NewFromConfig(cfg),
		log:        logging.New(os.Stdout, slog.LevelInfo),
	}, nil
}
