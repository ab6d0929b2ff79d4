// Command hook is the Lambda function that CodeDeploy calls before a new version
// of the plant store gets traffic. It invokes the new version and reports to
// CodeDeploy whether the deployment may go on.
//
// https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html#appspec-hooks-lambda
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"

	"example.com/plantstore/internal/awsenv"
	"example.com/plantstore/internal/logging"
)

func main() {
	cfg, err := awsenv.Config()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hook:", err)
		os.Exit(1)
	}
	h := &hook{
		version:    os.Getenv("NEW_VERSION"),
		function:   lambdaclient.NewFromConfig(cfg),
		deployment: codedeploy.NewFromConfig(cfg),
		log:        logging.New(os.Stdout, slog.LevelInfo),
	}
	lambda.Start(h.handle)
}
