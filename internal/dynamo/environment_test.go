package dynamo_test

import (
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/dynamo/sdkconfig"
	"example.com/plantstore/test/dynamolocal"
)

// onLambda is what Lambda itself sets of the SDK's variables.
var onLambda = map[string]string{
	"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1",
	"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t",
}

// environment returns a getenv of what Lambda sets and then vars.
func environment(vars map[string]string) func(string) string {
	all := maps.Clone(onLambda)
	maps.Copy(all, vars)
	return func(name string) string { return all[name] }
}

// Whatever the environment says, it is to this what it is to the SDK itself.
func TestNewClientLikeSDK(t *testing.T) {
	for name, vars := range map[string]map[string]string{
		"as Lambda sets it":     {},
		"empty is unset":        {"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_CA_BUNDLE": "", "AWS_MAX_ATTEMPTS": "", "AWS_USE_FIPS_ENDPOINT": ""},
		"no session":            {"AWS_SESSION_TOKEN": ""},
		"account":               {"AWS_ACCOUNT_ID": "123456789012"},
		"the other region":      {"AWS_REGION": ""},
		"private network":       {"AWS_ENDPOINT_URL_DYNAMODB": "https://vpce.example.com"},
		"endpoint of all":       {"AWS_ENDPOINT_URL": "https://all.example.com"},
		"endpoints":             {"AWS_ENDPOINT_URL": "https://all.example.com", "AWS_ENDPOINT_URL_DYNAMODB": "https://vpce.example.com"},
		"FIPS":                  {"AWS_USE_FIPS_ENDPOINT": "true"},
		"dual stack":            {"AWS_USE_DUALSTACK_ENDPOINT": "TRUE"},
		"neither":               {"AWS_USE_FIPS_ENDPOINT": "false", "AWS_USE_DUALSTACK_ENDPOINT": "false"},
		"attempts":              {"AWS_MAX_ATTEMPTS": "2"},
		"local":                 {"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000"},
		"local, no credentials": {"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": ""},
		"local, nothing else":   {"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": ""},
	} {
		t.Run(name, func(t *testing.T) {
			getenv := environment(vars)
			client, err := dynamo.NewClient(getenv, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, kv := range os.Environ() {
				if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
					t.Setenv(name, "")
				}
			}
			t.Setenv("AWS_CONFIG_FILE", os.DevNull)
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
			for name := range onLambda {
				t.Setenv(name, getenv(name))
			}
			for name := range vars {
				t.Setenv(name, getenv(name))
			}
			sdk, err := sdkconfig.NewClient(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := settings(t, client), settings(t, sdk); got != want {
				t.Errorf("got  %+v,\nwant %+v", got, want)
			}
		})
	}
}

// seen is what can be told of a client.
type seen struct {
	region, endpoint, key, secret, session, account string
	fips, dualStack                                 bool
	accountMode                                     aws.AccountIDEndpointMode
	attempts                                        int
	local                                           bool
}

func settings(t *testing.T, client *dynamodb.Client) seen {
	t.Helper()
	o := client.Options()
	c, err := o.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seen{
		region: o.Region, endpoint: aws.ToString(o.BaseEndpoint),
		key: c.AccessKeyID, secret: c.SecretAccessKey, session: c.SessionToken, account: c.AccountID,
		fips:        o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled,
		dualStack:   o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled,
		accountMode: o.AccountIDEndpointMode, attempts: o.Retryer.MaxAttempts(), local: dynamo.IsLocal(client),
	}
}

func TestNewClientRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		vars map[string]string
		want string
	}{
		"no region":        {map[string]string{"AWS_REGION": "", "AWS_DEFAULT_REGION": ""}, "AWS_REGION"},
		"no credentials":   {map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "AWS_ACCESS_KEY_ID"},
		"no key":           {map[string]string{"AWS_ACCESS_KEY_ID": ""}, "AWS_ACCESS_KEY_ID"},
		"no secret, local": {map[string]string{"AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:8000"}, "AWS_SECRET_ACCESS_KEY"},
		"no scheme":        {map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "localhost:8000"}, `AWS_ENDPOINT_URL_DYNAMODB: "localhost:8000"`},
		"no host":          {map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "http://"}, `AWS_ENDPOINT_URL_DYNAMODB: "http://"`},
		"no number":        {map[string]string{"AWS_MAX_ATTEMPTS": "many"}, `AWS_MAX_ATTEMPTS: "many"`},
		"no attempt":       {map[string]string{"AWS_MAX_ATTEMPTS": "0"}, `AWS_MAX_ATTEMPTS: "0"`},
		"no truth":         {map[string]string{"AWS_USE_FIPS_ENDPOINT": "1"}, `AWS_USE_FIPS_ENDPOINT: "1"`},
		"no truth either":  {map[string]string{"AWS_USE_DUALSTACK_ENDPOINT": "yes"}, `AWS_USE_DUALSTACK_ENDPOINT: "yes"`},
		"no bundle":        {map[string]string{"AWS_CA_BUNDLE": "/nonexistent"}, "AWS_CA_BUNDLE"},
		"no certificates":  {map[string]string{"AWS_CA_BUNDLE": os.DevNull}, "AWS_CA_BUNDLE"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := dynamo.NewClient(environment(test.vars), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line that names %s", err, test.want)
			}
			if client != nil {
				t.Error("got a client with the error")
			}
		})
	}
}

func TestNewClientLocal(t *testing.T) {
	endpoint := dynamolocal.Endpoint(t)
	client, err := dynamo.NewClient(func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": endpoint}[name]
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Error(err)
	}
}

// The certificates of AWS_CA_BUNDLE are trusted, and no others. Requests are
// signed for the session.
func TestNewClientBundle(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-Amz-Security-Token"); got != "t" {
			t.Errorf("session token %q", got)
		}
		io.WriteString(w, `{"TableNames":["it is me"]}`)
	}))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", bundle} {
		client, err := dynamo.NewClient(environment(map[string]string{
			"AWS_ENDPOINT_URL_DYNAMODB": server.URL, "AWS_CA_BUNDLE": file, "AWS_MAX_ATTEMPTS": "1",
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		if trusted := err == nil; trusted != (file != "") {
			t.Errorf("AWS_CA_BUNDLE=%s: %v", file, err)
		}
	}
}
