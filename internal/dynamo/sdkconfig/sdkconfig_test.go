package sdkconfig_test

import (
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
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/dynamo/sdkconfig"
	"example.com/plantstore/test/dynamolocal"
)

// setAWS makes vars, as name and value in turn, all the AWS settings there are.
func setAWS(t *testing.T, vars ...string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	for i := 0; i < len(vars); i += 2 {
		t.Setenv(vars[i], vars[i+1])
	}
}

func newClient(t *testing.T) *dynamodb.Client {
	t.Helper()
	client, err := sdkconfig.NewClient(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// With DynamoDB Local the endpoint is all that a newcomer has to set.
func TestNewClientLocal(t *testing.T) {
	endpoint := dynamolocal.Endpoint(t)
	setAWS(t, "AWS_ENDPOINT_URL_DYNAMODB", endpoint)
	client := newClient(t)
	if !dynamo.IsLocal(client) {
		t.Error("not taken for DynamoDB Local")
	}
	if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Error(err)
	}
}

func TestNewClientSettings(t *testing.T) {
	for _, test := range []struct {
		name   string
		vars   []string
		region string
		key    string // "": the role of an instance
		local  bool
	}{
		{"AWS", []string{"AWS_REGION", "eu-central-1", "AWS_ACCESS_KEY_ID", "k", "AWS_SECRET_ACCESS_KEY", "s"}, "eu-central-1", "k", false},
		{"AWS, no endpoint", []string{"AWS_ENDPOINT_URL_DYNAMODB", "", "AWS_REGION", "eu-central-1"}, "eu-central-1", "", false},
		{"AWS, private network", []string{"AWS_ENDPOINT_URL_DYNAMODB", "https://vpce.example.com", "AWS_REGION", "eu-central-1"}, "eu-central-1", "", false},
		{"local", []string{"AWS_ENDPOINT_URL_DYNAMODB", "http://localhost:8000"}, "local", "local", true},
		{"local, region", []string{"AWS_ENDPOINT_URL_DYNAMODB", "http://localhost:8000", "AWS_REGION", "eu-central-1"}, "eu-central-1", "local", true},
		{"local, key", []string{"AWS_ENDPOINT_URL_DYNAMODB", "http://localhost:8000", "AWS_ACCESS_KEY_ID", "k", "AWS_SECRET_ACCESS_KEY", "s"}, "local", "k", true},
		{"local, for all services", []string{"AWS_ENDPOINT_URL", "http://localhost:8000"}, "local", "local", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			setAWS(t, test.vars...)
			client := newClient(t)
			o := client.Options()
			if o.Region != test.region {
				t.Errorf("region %q, want %q", o.Region, test.region)
			}
			if dynamo.IsLocal(client) != test.local {
				t.Errorf("IsLocal is %t", !test.local)
			}
			if test.key == "" {
				if !aws.IsCredentialsProvider(o.Credentials, (*ec2rolecreds.Provider)(nil)) {
					t.Error("credentials are not those of an instance's role")
				}
				return
			}
			if c, err := o.Credentials.Retrieve(t.Context()); err != nil || c.AccessKeyID != test.key {
				t.Errorf("key %q, error %v, want %q", c.AccessKeyID, err, test.key)
			}
		})
	}
}

func TestNewClientRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		vars []string
		want string
	}{
		"no region":      {nil, "AWS_REGION"},
		"no region, TLS": {[]string{"AWS_ENDPOINT_URL_DYNAMODB", "https://vpce.example.com"}, "AWS_REGION"},
		"no scheme":      {[]string{"AWS_ENDPOINT_URL_DYNAMODB", "localhost:8000"}, `AWS_ENDPOINT_URL_DYNAMODB: "localhost:8000"`},
		"no host":        {[]string{"AWS_ENDPOINT_URL_DYNAMODB", "http://"}, `AWS_ENDPOINT_URL_DYNAMODB: "http://"`},
		"no URL":         {[]string{"AWS_ENDPOINT_URL_DYNAMODB", "http://[::1"}, `AWS_ENDPOINT_URL_DYNAMODB: "http://[::1"`},
		"no number":      {[]string{"AWS_REGION", "eu-central-1", "AWS_MAX_ATTEMPTS", "many"}, "AWS_MAX_ATTEMPTS"},
	} {
		t.Run(name, func(t *testing.T) {
			setAWS(t, test.vars...)
			client, err := sdkconfig.NewClient(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line that names %s", err, test.want)
			}
			if client != nil {
				t.Error("got a client with the error")
			}
		})
	}
}

// Our connections are the SDK's with other time-outs: AWS_CA_BUNDLE holds.
func TestNewClientConnections(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"TableNames":["it is me"]}`)
	}))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	setAWS(t, "AWS_ENDPOINT_URL_DYNAMODB", server.URL, "AWS_REGION", "eu-central-1", "AWS_CA_BUNDLE", bundle,
		"AWS_ACCESS_KEY_ID", "k", "AWS_SECRET_ACCESS_KEY", "s")
	client := newClient(t)
	out, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || len(out.TableNames) != 1 {
		t.Errorf("ListTables: %v, %v", out, err)
	}

	c := client.Options().HTTPClient.(*awshttp.BuildableClient)
	if got := c.GetTransport().IdleConnTimeout; got <= 0 || got >= time.Minute {
		t.Errorf("idle connections are kept for %v, want less than the service's minute", got)
	}
	if got := c.GetTransport().MaxIdleConnsPerHost; got < 64 {
		t.Errorf("%d idle connections are kept, want one for each of many clients", got)
	}
}
