// Command lambda runs the plant store on AWS Lambda, behind an API Gateway HTTP
// API or a function URL. It is wiring alone; package config says what it reads
// from the environment.
package main

import (
	"context"
	"fmt"
	"log/slog"
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

// warmTimeout bounds what is done ahead of the first request. Lambda gives an
// init 10 s, but whoever waits for it has better use for them.
const warmTimeout = 2 * time.Second

func main() {
	handler, err := setUp(context.Background(), os.Getenv)
	if err != nil {
		// Lambda logs the line, and the exit as a failed init.
		fmt.Fprintln(os.Stderr, "plantstore:", err)
		os.Exit(1)
	}
	lambda.Start(handler)
}

// setUp makes the handler of all invocations.
func setUp(ctx context.Context, getenv func(string) string) (*lambdahttp.Handler, error) {
	cfg, err := config.FromEnv(getenv)
	if err != nil {
		return nil, err
	}
	if cfg.Tokens.Issuer == "" {
		return nil, fmt.Errorf("%s is not set: name the issuer of the tokens", config.TokenIssuer)
	}
	log := logging.New(os.Stdout, cfg.LogLevel)
	slog.SetDefault(log) // for what libraries print, through package log as well
	verifier, err := auth.NewVerifier(cfg.Tokens)
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClient(getenv, log)
	if err != nil {
		return nil, err
	}
	store := dynamo.New(client, cfg.Table)
	warm(ctx, cfg.Tokens.Keys, store, log)
	return lambdahttp.New(handlers.New(store, verifier, log), lambdahttp.Options{Logger: log}), nil
}

// warm fetches the token keys and connects to DynamoDB, both at once, so that
// the first request need not. What fails here is tried again when a request
// needs it.
func warm(ctx context.Context, keys auth.KeySource, store *dynamo.Store, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	var group sync.WaitGroup
	if remote, ok := keys.(*auth.RemoteKeySet); ok {
		remote.OnFailure = func(err error) { log.Warn("no token keys", "cause", err.Error()) }
		group.Go(func() { remote.Load(ctx) }) // a failure is OnFailure's
	}
	group.Go(func() {
		if err := store.Warm(ctx); err != nil {
			log.Warn("no connection to DynamoDB", "cause", err.Error())
		}
	})
	group.Wait()
}
