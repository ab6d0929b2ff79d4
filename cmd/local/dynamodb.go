package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
)

// endpointVariable is the SDK's variable for DynamoDB Local's address.
const endpointVariable = "AWS_ENDPOINT_URL_DYNAMODB"

// dynamoDBVariables are the AWS SDK's variables that -help lists.
var dynamoDBVariables = []string{endpointVariable, "AWS_REGION", "AWS_PROFILE"}

// defaultStore returns the store to use without -store.
func defaultStore(getenv func(string) string) string {
	if getenv(endpointVariable) != "" {
		return "dynamodb"
	}
	return "bolt"
}

// startTimeout limits the wait for credentials and a table. Tests change it.
var startTimeout = 10 * time.Second

func openDynamoDB(ctx context.Context, table string, log *slog.Logger) (*storage, error) {
	client, err := dynamo.NewClientFromEnv(ctx, log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	where := "DynamoDB"
	// For AWS itself BaseEndpoint is nil: no variable sets it, or the SDK is told to ignore
	// the variable. Credentials are checked here, since Ping would fail with less advice.
	if endpoint := client.Options().BaseEndpoint; endpoint != nil {
		where += " at " + *endpoint // without a password: NewClient has checked it
	} else if _, err := client.Options().Credentials.Retrieve(ctx); err != nil {
		return nil, fmt.Errorf("-store dynamodb: can't get AWS credentials: %w: sign in (aws sso login), "+
			"set AWS_PROFILE, or set %s to use DynamoDB Local", err, endpointVariable)
	}
	where += ", region " + client.Options().Region
	store := dynamo.New(client, table)
	if err := prepareTable(ctx, store, dynamo.IsDynamoDBLocal(client.Options().BaseEndpoint), table); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return &storage{Store: store, where: where + ", table " + table}, nil
}

// prepareTable creates a missing table on DynamoDB Local. It then pings the store, so that the
// program reports a wrong setting at once, with advice.
func prepareTable(ctx context.Context, store *dynamo.Store, local bool, table string) error {
	var err error
	if local {
		err = store.EnsureTable(ctx)
	}
	if err == nil {
		err = store.Ping(ctx)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, plants.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) {
		if local {
			return fmt.Errorf("is DynamoDB Local running? %w", err)
		}
		return fmt.Errorf("check the connection, its certificate and AWS_REGION: %w", err)
	}
	if strings.Contains(err.Error(), "does not have the specified index") {
		return fmt.Errorf("table %q: %w: it has another schema; set %s to another name", table, err, config.EnvTableName)
	}
	return fmt.Errorf("table %q: %w", table, err)
}

// checkCredentials returns an error if a variable with AWS credentials has white space, for
// example a line break from a file that contained the secret, or quotes, which docker --env-file
// keeps. With them, no request could be sent, or none would be authorized.
func checkCredentials(getenv func(string) string) error {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		if v := getenv(name); strings.ContainsFunc(v, unicode.IsSpace) || strings.ContainsAny(v, `"'`) {
			return fmt.Errorf("%s has white space or quotes: remove them", name)
		}
	}
	return nil
}
