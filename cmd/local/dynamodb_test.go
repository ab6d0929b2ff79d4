package main

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// The program uses DynamoDB Local if its address is set, unless -store names another.
func TestDefaultStore(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{endpointVariable: "http://127.0.0.1:8000"}[name]
	}
	for args, want := range map[string]string{"": "dynamodb", "-store=bolt": "bolt"} {
		if got, err := parseFlags(strings.Fields(args), getenv, io.Discard); got.store != want || err != nil {
			t.Errorf("%q: got the store %q, %v, want %s", args, got.store, err, want)
		}
	}
}

// setAWS sets the region and one of the SDK's other variables.
func setAWS(t *testing.T, name, value string) {
	for _, name := range []string{endpointVariable, "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv(name, value)
}

// setAWSLike sets the region and the credentials of client, since DynamoDB Local keeps a set
// of tables for each.
func setAWSLike(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	credentials, err := client.Options().Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	setAWS(t, "AWS_REGION", client.Options().Region)
	t.Setenv("AWS_ACCESS_KEY_ID", credentials.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", credentials.SecretAccessKey)
}

// open opens the store that the environment selects, as run does.
func open(t *testing.T) (*storage, error) {
	t.Helper()
	cfg, err := config.FromEnv(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	o := options{store: defaultStore(os.Getenv)}
	return openStore(t.Context(), o, cfg.TableName, os.Getenv, slog.New(slog.DiscardHandler))
}

// Without credentials for AWS, the program reports that at once, even if an endpoint is set
// but the SDK ignores it.
func TestNoCredentials(t *testing.T) {
	setAWS(t, endpointVariable, "http://127.0.0.1:1")
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
	if _, err := open(t); err == nil || !strings.Contains(err.Error(), "set AWS_PROFILE") {
		t.Errorf("got %v, want advice", err)
	}
}

// On a machine without an instance role, the program prints only that line, without a
// warning from the SDK. The metadata service here responds like a proxy that blocks it.
func TestNoInstanceRole(t *testing.T) {
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer metadata.Close()
	setAWS(t, "AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.URL)
	var lines strings.Builder
	_, err := openDynamoDB(t.Context(), "plants", slog.New(slog.NewTextHandler(&lines, nil)))
	if err == nil || !strings.Contains(err.Error(), "can't get AWS credentials: ") || lines.Len() > 0 {
		t.Errorf("got %v and the log %s", err, &lines)
	}
}

// The program waits for credentials and for DynamoDB Local only until startTimeout, or
// until Ctrl-C.
func TestNoResponse(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections but sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer func(d time.Duration) { startTimeout = d }(startTimeout)
	for _, name := range []string{endpointVariable, "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		for _, limits := range [][2]time.Duration{
			{100 * time.Millisecond, time.Minute},
			{time.Minute, 100 * time.Millisecond},
		} {
			setAWS(t, name, "http://"+silent.Addr().String())
			ctx, cancel := context.WithTimeout(t.Context(), limits[0]) // the user's
			startTimeout = limits[1]
			start := time.Now()
			args := []string{"-addr", "127.0.0.1:0", "-data", t.TempDir(), "-store", "dynamodb"}
			err := run(ctx, args, os.Getenv, io.Discard, io.Discard)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 30*time.Second {
				t.Errorf("%s, %v: got %v, want an error when the time is up", name, limits, err)
			}
		}
	}
}

// The program gives advice only for a cause that it knows. It never advises to delete a table.
func TestAdvice(t *testing.T) {
	client, table := dynamolocal.TableName(t)
	input := dynamo.TableInput(table)
	input.GlobalSecondaryIndexes, input.AttributeDefinitions = nil, input.AttributeDefinitions[:1]
	_, err := client.CreateTable(t.Context(), input)
	// If the table exists, an attempt without a response made it.
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		t.Fatal(err)
	}
	backfilling := dynamolocal.NewProxy(t, *client.Options().BaseEndpoint)
	backfilling.Always("Query", dynamolocal.Reply(400, `{"__type":"com.amazon.coral.validate#ValidationException",`+
		`"message":"Cannot read from backfilling global secondary index: owner-index"}`))
	setAWSLike(t, client)
	t.Setenv(endpointVariable, *client.Options().BaseEndpoint)
	t.Setenv(config.EnvTableName, table)
	for _, test := range []struct{ name, value, cause, advice string }{
		{config.EnvTableName, table, "ValidationException", "it has another schema; set TABLE_NAME to another name"},
		{endpointVariable, backfilling.URL, "Cannot read from backfilling global secondary index: owner-index", ""},
		{endpointVariable, "http://127.0.0.1:1", "is DynamoDB Local running? ", "connection refused"},
		{"AWS_ACCESS_KEY_ID", "a-b_c", "UnrecognizedClientException", ""}, // DynamoDB Local takes letters and digits only
		{"AWS_USE_FIPS_ENDPOINT", "true", "FIPS and custom endpoint are not supported", ""},
		{"AWS_REGION", "eu central", "invalid input region eu central", ""},
		{"AWS_ACCESS_KEY_ID", "x\n", "AWS_ACCESS_KEY_ID has white space or quotes: remove them", ""},
		{"AWS_SECRET_ACCESS_KEY", `"x"`, "AWS_SECRET_ACCESS_KEY has white space or quotes: remove them", ""},
		{"AWS_SESSION_TOKEN", "x\n", "AWS_SESSION_TOKEN has white space or quotes: remove them", ""},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Setenv(test.name, test.value)
			_, err := open(t)
			text := fmt.Sprint(err)
			if !strings.Contains(text, test.cause) || !strings.HasSuffix(text, test.advice) {
				t.Errorf("got %s, want %s, %s", text, test.cause, test.advice)
			}
			if test.advice == "" && (strings.Contains(text, config.EnvTableName) || strings.Contains(text, "schema")) {
				t.Errorf("it gives advice for an unknown cause: %s", text)
			}
		})
	}
}

// On AWS the program creates no table. It starts only with a certificate that it trusts and a table
// that it can use, and prints the table's name. A TLS proxy makes DynamoDB Local look like AWS.
func TestTableOnAWS(t *testing.T) {
	client, table := dynamolocal.TableName(t)
	local, err := url.Parse(*client.Options().BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	aws := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(local))
	aws.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // of failed handshakes
	aws.StartTLS()
	defer aws.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: aws.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	setAWSLike(t, client)
	t.Setenv(endpointVariable, aws.URL)
	t.Setenv(config.EnvTableName, table)
	if _, err := open(t); !strings.Contains(fmt.Sprint(err), "check the connection, its certificate and AWS_REGION: ") ||
		!strings.Contains(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("with a certificate that isn't trusted: %v", err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	region := ", region " + client.Options().Region
	for range 2 { // the first attempt created no table
		_, err := open(t)
		for _, want := range []string{
			region, table, "ResourceNotFoundException", "set the name and the region of one that exists",
		} {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		}
	}
	if err := dynamo.New(client, table).EnsureTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if store, err := open(t); err != nil || !strings.HasSuffix(store.where, region+", table "+table) {
		t.Errorf("with the table: %+v, %v", store, err)
	}
}
