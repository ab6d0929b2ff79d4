package dynamo_test

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
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

// loaders are the two sources of settings.
var loaders = map[string]func(context.Context) (aws.Config, error){
	"EnvConfig":  func(context.Context) (aws.Config, error) { return dynamo.EnvConfig() },
	"LoadConfig": func(ctx context.Context) (aws.Config, error) { return dynamo.LoadConfig(ctx, discard) },
}

// newClient returns a client with the settings of the named loader, but without a
// time limit, which is too short for busy machines.
func newClient(t *testing.T, loader string) (*dynamodb.Client, error) {
	t.Helper()
	cfg, err := loaders[loader](t.Context())
	if err != nil {
		return nil, err
	}
	client, err := dynamo.NewClient(cfg, discard)
	if err == nil {
		client.Options().HTTPClient.(*http.Client).Timeout = 0
	}
	return client, err
}

// EnvConfig reads the variables as the SDK's own loader does.
func TestSettings(t *testing.T) {
	lambda := settings{region: "eu-central-1", key: "k", secret: "s", session: "t", attempts: 6}
	with := func(change func(*settings)) settings {
		s := lambda
		change(&s)
		return s
	}
	for vars, want := range map[string]settings{
		onLambda: lambda,
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB= AWS_CA_BUNDLE= AWS_MAX_ATTEMPTS= AWS_USE_FIPS_ENDPOINT=": lambda,
		onLambda + "AWS_REGION=":                                                 lambda,
		onLambda + "AWS_SESSION_TOKEN=":                                          with(func(s *settings) { s.session = "" }),
		onLambda + "AWS_ACCOUNT_ID=123456789012":                                 with(func(s *settings) { s.account = "123456789012" }),
		onLambda + "AWS_MAX_ATTEMPTS=2":                                          with(func(s *settings) { s.attempts = 2 }),
		onLambda + "AWS_USE_FIPS_ENDPOINT=true":                                  with(func(s *settings) { s.fips = true }),
		onLambda + "AWS_USE_DUALSTACK_ENDPOINT=TRUE AWS_USE_FIPS_ENDPOINT=false": with(func(s *settings) { s.dualStack = true }),

		onLambda + vpce:             with(func(s *settings) { s.endpoint = "https://vpce.example.com" }),
		onLambda + forAll:           with(func(s *settings) { s.endpoint = "https://all.example.com" }),
		onLambda + forAll + vpce:    with(func(s *settings) { s.endpoint = "https://vpce.example.com" }),
		onLambda + forAll + ignored: lambda,
		onLambda + vpce + ignored:   lambda,
		onLambda + local:            with(func(s *settings) { s.endpoint = "http://localhost:8000" }),

		local: {region: "local", endpoint: "http://localhost:8000", key: "local", secret: "local", attempts: 6},
	} {
		for loader := range loaders {
			t.Run(loader+" "+vars, func(t *testing.T) {
				setEnv(t, vars)
				client, err := newClient(t, loader)
				if err != nil {
					t.Fatal(err)
				}
				if got := settingsOf(t, client); got != want {
					t.Errorf("got  %+v,\nwant %+v", got, want)
				}
			})
		}
	}
}

const (
	onLambda = "AWS_REGION=eu-central-1 AWS_DEFAULT_REGION=eu-central-1 AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t "
	vpce     = "AWS_ENDPOINT_URL_DYNAMODB=https://vpce.example.com "
	forAll   = "AWS_ENDPOINT_URL=https://all.example.com "
	ignored  = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true "
	local    = "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000 "
)

// settings are those of a client that can be observed.
type settings struct {
	region, endpoint, key, secret, session, account string
	fips, dualStack                                 bool
	attempts                                        int
}

func settingsOf(t *testing.T, client *dynamodb.Client) settings {
	t.Helper()
	o := client.Options()
	if o.AccountIDEndpointMode != aws.AccountIDEndpointModePreferred {
		t.Errorf("account id endpoint mode %q, want the SDK's default", o.AccountIDEndpointMode)
	}
	c, err := o.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return settings{
		region: o.Region, endpoint: aws.ToString(o.BaseEndpoint),
		key: c.AccessKeyID, secret: c.SecretAccessKey, session: c.SessionToken, account: c.AccountID,
		fips:      o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled,
		dualStack: o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled,
		attempts:  o.Retryer.MaxAttempts(),
	}
}

// The error for an invalid setting is one line that names the variable and
// prints no secret.
func TestInvalidSettings(t *testing.T) {
	for vars, want := range map[string]string{
		onLambda + "AWS_REGION= AWS_DEFAULT_REGION=":                                   "AWS_REGION",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=localhost:8000":                          "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://":                                 "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://me:hunter2@[::1":                  "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://me:hunter2@localhost:8000":        "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000/?password=hunter2": "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000/#hunter2":          "AWS_ENDPOINT_URL_DYNAMODB",
		onLambda + "AWS_MAX_ATTEMPTS=many":                                             "AWS_MAX_ATTEMPTS",
		onLambda + "AWS_USE_FIPS_ENDPOINT=1":                                           "AWS_USE_FIPS_ENDPOINT",
		onLambda + "AWS_USE_DUALSTACK_ENDPOINT=yes":                                    "AWS_USE_DUALSTACK_ENDPOINT",
		onLambda + "AWS_CA_BUNDLE=/nonexistent":                                        "/nonexistent",
		onLambda + "AWS_CA_BUNDLE=" + os.DevNull:                                       "CA",
	} {
		for loader := range loaders {
			t.Run(loader+" "+vars, func(t *testing.T) {
				setEnv(t, vars)
				_, err := newClient(t, loader)
				if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n") {
					t.Errorf("got %v, want one line that names %s", err, want)
				}
				if err != nil && strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%q prints the password", err)
				}
			})
		}
	}
}

// On Lambda all credentials are in the environment. Elsewhere the SDK finds out
// with the first request whether the machine has any.
func TestNoCredentials(t *testing.T) {
	for _, vars := range []string{"AWS_REGION=eu-central-1", "AWS_REGION=eu-central-1 AWS_ACCESS_KEY_ID=k", "AWS_REGION=eu-central-1 " + vpce} {
		setEnv(t, vars)
		if _, err := newClient(t, "EnvConfig"); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
			t.Errorf("EnvConfig with %s: got %v, want an error that names AWS_ACCESS_KEY_ID", vars, err)
		}
		if _, err := newClient(t, "LoadConfig"); err != nil {
			t.Errorf("LoadConfig with %s: %v", vars, err)
		}
	}
}

// A redirect is an error, not another request.
func TestRedirect(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	setEnv(t, onLambda+"AWS_MAX_ATTEMPTS=1 AWS_ENDPOINT_URL_DYNAMODB="+server.URL)
	client, err := newClient(t, "EnvConfig")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil || requests != 1 {
		t.Errorf("%d requests, want 1; error %v", requests, err)
	}
}

// The client keeps the certificates of AWS_CA_BUNDLE, signs for the session,
// and sets its own limits for idle connections.
func TestConnections(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-Amz-Security-Token"); got != "t" {
			t.Errorf("session token %q, want t", got)
		}
		io.WriteString(w, `{"TableNames":[]}`)
	}))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	for loader := range loaders {
		for _, file := range []string{"", bundle} {
			setEnv(t, onLambda+"AWS_MAX_ATTEMPTS=1 AWS_ENDPOINT_URL_DYNAMODB="+server.URL+" AWS_CA_BUNDLE="+file)
			client, err := newClient(t, loader)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
			if trusted := err == nil; trusted != (file != "") {
				t.Errorf("%s, AWS_CA_BUNDLE=%s: %v", loader, file, err)
			}
			transport := client.Options().HTTPClient.(*http.Client).Transport.(*http.Transport)
			if transport.IdleConnTimeout >= time.Minute || transport.MaxIdleConnsPerHost < 64 {
				t.Errorf("%s: %d idle connections for %v, want one for each of many clients, for less than DynamoDB's minute",
					loader, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout)
			}
		}
	}
}
