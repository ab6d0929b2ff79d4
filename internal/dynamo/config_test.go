package dynamo_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/awsenv"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

const (
	onLambda = "AWS_REGION=eu-central-1 AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t "
	vpce     = "AWS_ENDPOINT_URL_DYNAMODB=https://vpce.example.com "
	forAll   = "AWS_ENDPOINT_URL=https://all.example.com "
	local    = "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000 "
)

// setEnv replaces the AWS settings of the environment by vars, "NAME=value"
// separated by spaces.
func setEnv(t *testing.T, vars string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	for kv := range strings.FieldsSeq(vars) {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
}

// settings returns those of a client that can be observed.
func settings(t *testing.T, cfg aws.Config) string {
	t.Helper()
	client, err := dynamo.NewClient(cfg, discard)
	if err != nil {
		t.Fatal(err)
	}
	o := client.SDK.Options()
	c, err := o.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintln(o.Region, c.AccessKeyID, c.SecretAccessKey, c.SessionToken, c.AccountID, aws.ToString(o.BaseEndpoint),
		o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled, o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled,
		o.AccountIDEndpointMode)
}

// Package awsenv reads the variables as the SDK's own loader does.
func TestSettings(t *testing.T) {
	for _, vars := range []string{
		onLambda,
		onLambda + "AWS_SESSION_TOKEN= AWS_ENDPOINT_URL_DYNAMODB= AWS_MAX_ATTEMPTS= AWS_USE_FIPS_ENDPOINT=",
		onLambda + "AWS_ACCOUNT_ID=123456789012 AWS_ACCOUNT_ID_ENDPOINT_MODE=required AWS_MAX_ATTEMPTS=2",
		onLambda + "AWS_USE_FIPS_ENDPOINT=true",
		onLambda + "AWS_USE_DUALSTACK_ENDPOINT=TRUE AWS_USE_FIPS_ENDPOINT=false",
		onLambda + vpce,
		onLambda + forAll,
		onLambda + forAll + vpce,
		onLambda + local,
	} {
		setEnv(t, vars)
		got, err1 := awsenv.Config()
		want, err2 := config.LoadDefaultConfig(t.Context())
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got, want := settings(t, got), settings(t, want); got != want {
			t.Errorf("%s:\ngot  %s, want %s", vars, got, want)
		}
	}
}

// A request has six attempts, unless AWS_MAX_ATTEMPTS is set.
func TestMaxAttempts(t *testing.T) {
	for vars, want := range map[string]int{onLambda: 6, onLambda + "AWS_MAX_ATTEMPTS=2": 2, onLambda + "AWS_MAX_ATTEMPTS=9": 9} {
		setEnv(t, vars)
		fromEnvironment, err1 := awsenv.Config()
		fromSDK, err2 := config.LoadDefaultConfig(t.Context())
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for name, cfg := range map[string]aws.Config{"awsenv": fromEnvironment, "SDK": fromSDK} {
			synctest.Test(t, func(t *testing.T) {
				got := 0
				client := newOffline(t, cfg, func(r *http.Request) (*http.Response, error) {
					got++
					return dynamolocal.Throttle(r)
				})
				wantSentinel(t, vars, list.call(t.Context(), dynamo.New(client, "plants")), plants.ErrThrottled)
				if got != want {
					t.Errorf("%s, settings from %s: %d attempts, want %d", vars, name, got, want)
				}
			})
		}
	}
}

// Only what isn't set has a default on DynamoDB Local.
func TestSettingsOnDynamoDBLocal(t *testing.T) {
	for vars, want := range map[string]string{local: "local local local  ", onLambda + local: "eu-central-1 k s t "} {
		setEnv(t, vars)
		cfg, _ := awsenv.Config()
		if got := settings(t, cfg); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", vars, got, want)
		}
	}
}

// The scheme says whether an endpoint is DynamoDB Local, which forgets its tables.
func TestMissingTable(t *testing.T) {
	const forgotten, missing = "restart the server, which creates the table: DynamoDB Local has forgotten it: operation error ", "the table is missing: "
	for endpoint, want := range map[string]string{"http://a.example": forgotten, "HTTP://a.example": forgotten, "https://a.example": missing} {
		setEnv(t, onLambda+"AWS_ENDPOINT_URL_DYNAMODB="+endpoint)
		cfg, _ := awsenv.Config()
		client, err := dynamo.NewClient(cfg, discard)
		if err != nil {
			t.Fatal(err)
		}
		client.SDK.Options().HTTPClient.(*http.Client).Transport = dynamolocal.Refuse(400, "ResourceNotFoundException")
		err = list.call(t.Context(), dynamo.New(client, "plants"))
		if !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want %s", endpoint, err, want)
		}
	}
}

// The error for an invalid setting is one line that names the variable and
// prints no secret.
func TestInvalidSettings(t *testing.T) {
	for vars, want := range map[string]string{
		onLambda + "AWS_REGION=":                                                "AWS_REGION",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=localhost:8000":                   `AWS_ENDPOINT_URL_DYNAMODB "localhost:8000" is not`,
		onLambda + "AWS_ENDPOINT_URL=localhost:8000":                            `AWS_ENDPOINT_URL "localhost:8000" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=ftp://localhost:8000":             `AWS_ENDPOINT_URL_DYNAMODB "ftp://localhost:8000" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://":                          `AWS_ENDPOINT_URL_DYNAMODB "http://" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://me:hunter2@[::1":           `AWS_ENDPOINT_URL_DYNAMODB "…@[::1" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://me:hunter2@localhost:8000": `AWS_ENDPOINT_URL_DYNAMODB "…@localhost:8000" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000?p=hunter2":  `AWS_ENDPOINT_URL_DYNAMODB "http://localhost:8000?…" is not`,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000#hunter2":    `AWS_ENDPOINT_URL_DYNAMODB "http://localhost:8000#…" is not`,
		onLambda + "AWS_MAX_ATTEMPTS=many":                                      "AWS_MAX_ATTEMPTS",
		onLambda + "AWS_USE_FIPS_ENDPOINT=on":                                   "AWS_USE_FIPS_ENDPOINT",
		onLambda + "AWS_USE_DUALSTACK_ENDPOINT=yes":                             "AWS_USE_DUALSTACK_ENDPOINT",
		"AWS_REGION=eu-central-1 AWS_ACCESS_KEY_ID=k":                           "AWS_ACCESS_KEY_ID",
	} {
		setEnv(t, vars)
		cfg, err := awsenv.Config()
		if err == nil {
			_, err = dynamo.NewClient(cfg, discard)
		}
		if text := fmt.Sprint(err); !strings.Contains(text, want) || strings.Contains(text, "\n") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %v, want one line that names %s, without password", vars, err, want)
		}
	}
}

// A connection that hangs fails before its attempt ends, with an error that shows that
// nothing was sent.
func TestHangingConnection(t *testing.T) {
	setEnv(t, onLambda+"AWS_MAX_ATTEMPTS=1")
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg.BaseEndpoint = aws.String("https://127.0.0.1:1")
	cfg.HTTPClient = awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) {
		d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		client, err := dynamo.NewClient(cfg, discard)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.SDK.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		if network, ok := errors.AsType[*net.OpError](err); !ok || network.Op != "dial" {
			t.Errorf("got %v, want a network error of dial", err)
		}
	})
}

// The client trusts AWS_CA_BUNDLE, doesn't follow redirects, gives an attempt a
// second, and closes its many idle connections before DynamoDB does.
func TestTransport(t *testing.T) {
	requests := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	setEnv(t, onLambda+"AWS_MAX_ATTEMPTS=1 AWS_ENDPOINT_URL_DYNAMODB="+server.URL)
	t.Setenv("AWS_CA_BUNDLE", bundle) // its path may have spaces
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamo.NewClient(cfg, discard)
	if err != nil {
		t.Fatal(err)
	}
	limits := client.SDK.Options().HTTPClient.(*http.Client)
	transport := limits.Transport.(*http.Transport)
	if idle := transport.IdleConnTimeout; limits.Timeout != time.Second || idle <= 0 || idle >= time.Minute {
		t.Errorf("attempts of %v, idle connections for %v", limits.Timeout, idle)
	}
	if total, each := transport.MaxIdleConns, transport.MaxIdleConnsPerHost; min(total, each) < 64 {
		t.Errorf("%d idle connections, %d for a host, want at least 64", total, each)
	}
	limits.Timeout = 0 // a busy machine may be slow
	if _, err := client.SDK.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil || requests != 1 {
		t.Errorf("%d requests, want 1; error %v", requests, err)
	}
}
