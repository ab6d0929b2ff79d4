// Command lambda runs the plant store on AWS Lambda, behind an API Gateway HTTP API.
// docs/configuration.md describes its environment variables.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/lambdahttp"
	"example.com/plantstore/internal/logging"
)

// warmTimeout limits warm. An init may take 10 s, but a client may be waiting.
const warmTimeout = 2 * time.Second

func main() {
	handler, err := setUp(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "plantstore:", err)
		os.Exit(1) // Lambda reports a failed init
	}
	lambda.Start(handler)
}

// setUp returns the handler of all invocations.
func setUp(ctx context.Context) (lambda.Handler, error) {
	cfg, err := config.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	if cfg.Tokens.Issuer == "" { // FromEnv rejects an audience without an issuer
		return nil, fmt.Errorf("%s and %s are not set: set both", config.EnvTokenIssuer, config.EnvTokenAudience)
	}
	log := logging.New(os.Stdout, cfg.LogLevel)
	verifier, err := auth.New(cfg.Tokens, handlers.Scopes(), log)
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClientFromEnv(ctx, log)
	if err != nil {
		return nil, err
	}
	store := dynamo.New(client, cfg.TableName)
	warm(ctx, verifier, store, log)
	return lambdahttp.New(handlers.New(store, verifier, log), http.HandlerFunc(handlers.Refuse), log), nil
}

// warm fetches the token keys and connects to DynamoDB at the same time, before
// the first request needs them. Failures are only logged, since requests try again.
func warm(ctx context.Context, verifier *auth.Verifier, store *dynamo.Store, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { _ = verifier.Load(ctx) }) // logs its failure
	group.Go(func() {
		if err := store.Ping(ctx); err != nil {
			log.Warn("DynamoDB can't be used yet", "cause", err.Error())
		}
	})
	group.Wait()
}
