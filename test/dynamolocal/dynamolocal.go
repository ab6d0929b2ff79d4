// Package dynamolocal gives tests a DynamoDB Local, and a [Proxy] that stands
// in front of it and makes the faults that it doesn't make by itself.
//
// Nothing of it depends on the user's AWS settings.
package dynamolocal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/test/tools"
)

const (
	endpointEnv = "AWS_ENDPOINT_URL_DYNAMODB"

	// The region and credentials of all tests. DynamoDB Local demands some and
	// keeps the tables of each apart.
	region, key, secret = "local", "local", "local"
)

// Endpoint returns the address of a DynamoDB Local that answers, the same for
// all tests of the process. That is, in this order,
//
//   - AWS_ENDPOINT_URL_DYNAMODB, if it is set;
//   - a container of amazon/dynamodb-local, if there is a Docker engine that
//     has the image or can get it;
//   - a Java process with the libraries of DynamoDB Local, which Maven gets
//     once and which are kept in the user's cache folder.
//
// What it starts ends with the test process, however that ends. If nothing can
// be started the test is skipped, and a line on the terminal says so even where
// go test hides what passing tests print. With CI=true it fails instead.
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
	endpoint := os.Getenv(endpointEnv)
	if endpoint != "" {
		if err := waitUntilReady(endpoint, 5*time.Second, nil); err != nil {
			return "", fmt.Errorf("%s is %s, but nothing there answers: start DynamoDB Local there or unset the variable (%w)",
				endpointEnv, endpoint, err)
		}
		return endpoint, nil
	}
	return bringUp()
})

// Config returns the settings of a client of the given endpoint. They are whole:
// nothing is read from the environment.
func Config(endpoint string) aws.Config {
	return aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(key, secret, ""),
		BaseEndpoint: &endpoint,
	}
}

// Client returns a client of the given endpoint, with the production settings
// of time-outs and retries. What the SDK has to say goes to the test's output.
func Client(t testing.TB, endpoint string) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClientFromConfig(Config(endpoint), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Environ returns the environment of a program that is to use the given
// endpoint and table, whatever the user's own AWS settings are.
func Environ(endpoint, table string) []string {
	env := []string{
		endpointEnv + "=" + endpoint,
		"AWS_REGION=" + region,
		"AWS_ACCESS_KEY_ID=" + key,
		"AWS_SECRET_ACCESS_KEY=" + secret,
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"TABLE_NAME=" + table,
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "TABLE_NAME=") {
			env = append(env, kv)
		}
	}
	return env
}

// Table makes an empty table of random name with the schema of the store, and
// deletes it when the test ends. It returns a client of [Endpoint] with it.
func Table(t testing.TB) (client *dynamodb.Client, name string) {
	t.Helper()
	client = Client(t, Endpoint(t))
	name = "test-" + rand.Text()
	if err := dynamo.EnsureTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
		if _, gone := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !gone {
			t.Errorf("table left behind: %v", err)
		}
	})
	return client, name
}

// waitUntilReady returns nil as soon as DynamoDB at the endpoint answers, or an
// error when it hasn't after the given time or when gone is closed.
func waitUntilReady(endpoint string, timeout time.Duration, gone <-chan struct{}) error {
	client, err := dynamo.NewClientFromConfig(Config(endpoint), nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var reason error
	for {
		_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(1)})
		if err == nil {
			return nil
		}
		if reason == nil || ctx.Err() == nil {
			reason = err // rather than that the time is over
		}
		select {
		case <-gone:
			return reason
		case <-ctx.Done():
			return reason
		case <-time.After(50 * time.Millisecond):
		}
	}
}
