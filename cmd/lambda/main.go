// Command lambda runs the plant store on AWS Lambda, behind an API Gateway HTTP
// API or a function URL. Package config documents its environment variables.
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
	"example.com/plantstore/internal/awsroots"
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
		os.Exit(1) // which Lambda reports as a failed init
	}
	lambda.Start(handler)
}

// setUp returns the handler of all invocations.
func setUp(ctx context.Context) (lambda.Handler, error) {
	cfg, err := config.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	if cfg.Tokens.Issuer == "" {
		return nil, fmt.Errorf("%s is not set: set it to the issuer of the tokens", config.TokenIssuer)
	}
	log := logging.New(os.Stdout, cfg.LogLevel)
	slog.SetDefault(log) // also for libraries that use package log
	dialTLS := awsroots.DialTLS(log)
	http.DefaultTransport.(*http.Transport).DialTLSContext = dialTLS // for the token keys
	verifier, err := auth.NewVerifier(cfg.Tokens)
	if err != nil {
		return nil, err
	}
	settings, err := dynamo.EnvConfig()
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClient(settings, log, func(t *http.Transport) {
		if t.TLSClientConfig.RootCAs == nil { // else they are those of AWS_CA_BUNDLE
			t.DialTLSContext = dialTLS
		}
	})
	if err != nil {
		return nil, err
	}
	store := dynamo.New(client, cfg.Table)
	loadKeys := keyLoader(cfg.Tokens.Keys, log)
	warm(ctx, loadKeys, store, log)
	return &checker{
		parts: map[string]func(context.Context) error{"table": store.CheckTable, "index": store.CheckIndex, "keys": loadKeys},
		log:   log,
		next:  lambdahttp.New(handlers.New(store, verifier, log), log),
	}, nil
}

// keyLoader returns a function that fetches keys, unless they are part of the
// settings, and logs failures to do so.
func keyLoader(keys auth.KeySource, log *slog.Logger) func(context.Context) error {
	remote, ok := keys.(*auth.RemoteKeySet)
	if !ok {
		return func(context.Context) error { return nil }
	}
	remote.OnFailure = func(err error) { log.Warn("no token keys", "cause", err.Error()) }
	return remote.Load
}

// warm fetches the token keys and connects to DynamoDB at the same time, before
// the first request needs them. It only logs failures, since requests try again.
func warm(ctx context.Context, loadKeys func(context.Context) error, store *dynamo.Store, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { loadKeys(ctx) })
	group.Go(func() {
		if err := store.Warm(ctx); err != nil {
			log.Warn("no connection to DynamoDB", "cause", err.Error())
		}
	})
	group.Wait()
}
