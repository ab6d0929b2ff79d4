// Package dynamolocal provides tests with DynamoDB Local, and with a [Proxy]
// that injects faults into the requests to it.
package dynamolocal

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/testing/harness"
)

const endpointEnv = "AWS_ENDPOINT_URL_DYNAMODB"

// pullLimit is for a start with Docker, which may have to pull the image first.
const pullLimit = 5 * time.Minute

// Endpoint returns the address of a DynamoDB Local for all tests of the process:
// AWS_ENDPOINT_URL_DYNAMODB, if set, or else a new one, which [harness.Main] stops.
// Without DynamoDB Local the test is skipped, see [harness.Missing].
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint, err := once()
	if err != nil {
		harness.Missing(t, fmt.Errorf("no DynamoDB Local: start Docker, or install Maven and Java 17, or set %s: %w",
			endpointEnv, err))
	}
	return endpoint
}

var once = sync.OnceValues(func() (endpoint string, err error) {
	if endpoint := harness.FromShell(endpointEnv); endpoint != "" {
		return endpoint, nil
	}
	port, err := harness.FreePort()
	if err != nil {
		return "", err
	}
	endpoint = "http://127.0.0.1:" + port
	dockerErr := start(endpoint, pullLimit, "docker", "run", "--rm", "--publish", "127.0.0.1:"+port+":8000",
		"docker.io/amazon/dynamodb-local")
	if dockerErr == nil {
		return endpoint, nil
	}
	if err := startJava(endpoint, port); err != nil {
		return "", fmt.Errorf("docker: %w; java: %w", dockerErr, err)
	}
	return endpoint, nil
})

// startJava starts DynamoDB Local with Java.
func startJava(endpoint, port string) error {
	lib, err := harness.Dir("dynamodb-local", pom, download)
	if err != nil {
		return err
	}
	err = start(endpoint, harness.Patience, "java",
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g", // it runs for seconds: start fast
		"-Djava.library.path="+lib, "-cp", filepath.Join(lib, "*"),
		"software.amazon.dynamodb.services.local.main.ServerRunner",
		"-inMemory", "-disableTelemetry", "-port", port)
	if err != nil {
		return fmt.Errorf("%w; if a power failure or a full disk has damaged its libraries, delete %s", err, lib)
	}
	return nil
}

// start starts DynamoDB Local. It waits until DynamoDB Local responds, the command fails, or
// the limit is over.
func start(endpoint string, limit time.Duration, command string, args ...string) error {
	p, err := harness.Start(exec.Command(command, args...))
	if err != nil {
		return err
	}
	defer time.AfterFunc(limit, p.Kill).Stop()
	for {
		if resp, err := http.Get(endpoint); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-p.Exited:
			return fmt.Errorf("%s: %s", p.Cmd.ProcessState, p.Stderr.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

//go:embed pom.xml
var pom []byte

// download downloads the libraries of DynamoDB Local: through the user's repository of Maven
// or, if that fails, as it does if that is read-only, through one in a temporary folder.
func download(dir string) error {
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	copyTo := func(options ...string) error {
		args := []string{"--quiet", "--batch-mode", "--file", file, "dependency:copy-dependencies",
			"-DoutputDirectory=" + dir}
		_, err := harness.Run("mvn", append(args, options...)...)
		return err
	}
	err := copyTo()
	if err == nil || errors.Is(err, exec.ErrNotFound) {
		return err
	}
	repository, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	return copyTo("-Dmaven.repo.local="+repository, "-DoverWriteReleases=true")
}

// Client returns a client for the given endpoint, like [dynamo.NewClient]. The SDK logs to
// the output of the test.
func Client(t testing.TB, endpoint string) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{BaseEndpoint: &endpoint}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Environ returns the environment variables of a program that uses the table at the given
// endpoint. [Client] has the same region and access key: DynamoDB Local keeps separate
// tables for each.
func Environ(endpoint, table string) []string {
	return []string{
		endpointEnv + "=" + endpoint,
		"AWS_REGION=local",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		config.EnvTableName + "=" + table,
	}
}

// TableName returns a random name of a table that doesn't exist, and a client for
// [Endpoint].
func TableName(t testing.TB) (client *dynamodb.Client, name string) {
	t.Helper()
	return Client(t, Endpoint(t)), "test-" + rand.Text()
}

// Table creates an empty table with a random name and the schema of the stores, and deletes it
// when the test ends.
func Table(t testing.TB) (client *dynamodb.Client, name string) {
	t.Helper()
	client, name = TableName(t)
	if err := dynamo.New(client, name).EnsureTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &name})
	})
	return client, name
}
