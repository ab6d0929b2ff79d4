// Package dynamolocal provides tests with DynamoDB Local, and with a [Proxy]
// that injects faults into the requests to it. It ignores the user's AWS settings.
package dynamolocal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/test/tools"
)

const (
	endpointEnv = "AWS_ENDPOINT_URL_DYNAMODB"

	// All tests use these: DynamoDB Local keeps separate tables for each.
	region, key, secret = "local", "local", "local"
)

// Endpoint returns the address of a DynamoDB Local for all tests of the process:
//
//   - AWS_ENDPOINT_URL_DYNAMODB, if set;
//   - a container of amazon/dynamodb-local, if a Docker engine is running;
//   - a Java process with the libraries of DynamoDB Local, which Maven downloads
//     once to the user's cache folder.
//
// What Endpoint starts ends with the test process. Without DynamoDB Local the
// test is skipped, see [tools.Missing].
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint, err := once()
	if err == nil {
		return endpoint
	}
	if os.Getenv(endpointEnv) != "" {
		t.Fatal(err)
	}
	tools.Missing(t, err)
	return ""
}

var once = sync.OnceValues(func() (string, error) {
	if endpoint := os.Getenv(endpointEnv); endpoint != "" {
		if err := answers(endpoint); err != nil {
			return "", fmt.Errorf("no answer from %s: start DynamoDB Local there or unset the variable: %w", endpointEnv, err)
		}
		return endpoint, nil
	}
	return bringUp()
})

// Config returns the settings of a client for the given endpoint. It reads
// nothing from the environment.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(key, secret, ""),
		BaseEndpoint: &endpoint,
	}
}

// Client returns a client for the given endpoint, like [dynamo.NewClient], but its
// attempts have no time limit: on a busy machine one may get no answer in a second,
// and then Delete can't know whether there was a plant. The SDK logs to the output
// of the test.
func Client(t testing.TB, endpoint string) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(Config(endpoint), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	client.Options().HTTPClient.(*http.Client).Timeout = 0
	return client
}

// Environ returns the environment variables of a program that uses the given
// endpoint and table, and none of the user's AWS settings.
func Environ(endpoint, table string) []string {
	return []string{
		endpointEnv + "=" + endpoint,
		"AWS_REGION=" + region,
		"AWS_ACCESS_KEY_ID=" + key,
		"AWS_SECRET_ACCESS_KEY=" + secret,
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"TABLE_NAME=" + table,
	}
}

// Table creates an empty table with a random name and the schema of the store,
// and deletes it when the test ends. It also returns a client for [Endpoint].
func Table(t testing.TB) (client *dynamodb.Client, name string) {
	t.Helper()
	client, name = Client(t, Endpoint(t)), "test-"+rand.Text()
	if err := dynamo.EnsureTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &name})
		if _, gone := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !gone {
			t.Errorf("deleting the table: %v", err)
		}
	})
	return client, name
}
