package dynamo_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/dynamolocal"
)

const (
	onLambda = "AWS_REGION=eu-central-1 AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t "
	local    = "AWS_ENDPOINT_URL_DYNAMODB=http://localhost:8000 "
)

// setEnv replaces the AWS settings in the environment with vars, "NAME=value"
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

// A request has six attempts, unless AWS_MAX_ATTEMPTS is set, at most half a second apart.
func TestMaxAttempts(t *testing.T) {
	for vars, want := range map[string]int{
		onLambda:                               6,
		onLambda + "AWS_MAX_ATTEMPTS=2":        2,
		onLambda + "AWS_MAX_ATTEMPTS=9":        9,
		onLambda + "AWS_NEW_RETRIES_2026=true": 6,
	} {
		setEnv(t, vars)
		synctest.Test(t, func(t *testing.T) {
			got, start := 0, time.Now()
			client := newFromEnv(t)
			client.Options().HTTPClient.(*http.Client).Transport = dynamolocal.Fault(
				func(r *http.Request) (*http.Response, error) {
					got++
					return dynamolocal.Throttle(r)
				})
			wantSentinel(t, vars, list.call(t.Context(), dynamo.New(client, "plants")), plants.ErrThrottled)
			if got != want {
				t.Errorf("%s: %d attempts, want %d", vars, got, want)
			}
			if took, limit := time.Since(start), time.Duration(want-1)*time.Second/2; took > limit {
				t.Errorf("%s: took %v, want at most %v", vars, took, limit)
			}
		})
	}
}

// On DynamoDB Local, only settings that are missing get a default.
func TestSettingsOnDynamoDBLocal(t *testing.T) {
	for vars, want := range map[string]string{local: "local local local ", onLambda + local: "eu-central-1 k s t"} {
		setEnv(t, vars)
		client := newFromEnv(t)
		keys, err := client.Options().Credentials.Retrieve(t.Context())
		got := fmt.Sprint(client.Options().Region, " ", keys.AccessKeyID, " ", keys.SecretAccessKey, " ", keys.SessionToken)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", vars, got, err, want)
		}
	}
}

// An endpoint without TLS is DynamoDB Local, which forgets its tables, unless it is AWS.
func TestMissingTable(t *testing.T) {
	const (
		forgotten = "restart the server, which creates the table: DynamoDB Local has forgotten it: operation error "
		missing   = "the table is missing in this region: "
	)
	for endpoint, want := range map[string]string{
		"http://a.example":                           forgotten,
		"HTTP://a.example":                           forgotten,
		"https://a.example":                          missing,
		"http://dynamodb.eu-central-1.amazonaws.com": missing,
	} {
		setEnv(t, onLambda+"AWS_ENDPOINT_URL_DYNAMODB="+endpoint)
		client := newFromEnv(t)
		client.Options().HTTPClient.(*http.Client).Transport = dynamolocal.Refuse(400, "ResourceNotFoundException")
		err := list.call(t.Context(), dynamo.New(client, "plants"))
		if !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want %s", endpoint, err, want)
		}
	}
}

// The error for an invalid setting is one line that names the variable and
// prints no secret.
func TestInvalidSettings(t *testing.T) {
	const endpoint = onLambda + "AWS_ENDPOINT_URL_DYNAMODB="
	for vars, want := range map[string]string{
		onLambda + "AWS_REGION=":                      "AWS_REGION",
		endpoint + "localhost:8000":                   `AWS_ENDPOINT_URL_DYNAMODB "localhost:8000" is not`,
		onLambda + "AWS_ENDPOINT_URL=localhost:8000":  `AWS_ENDPOINT_URL "localhost:8000" is not`,
		endpoint + "ftp://localhost:8000":             `AWS_ENDPOINT_URL_DYNAMODB "ftp://localhost:8000" is not`,
		endpoint + "http://":                          `AWS_ENDPOINT_URL_DYNAMODB "http://" is not`,
		endpoint + "http://me:hunter2@[::1":           `AWS_ENDPOINT_URL_DYNAMODB is not`,
		endpoint + "http://me:hunter2@localhost:8000": `AWS_ENDPOINT_URL_DYNAMODB is not`,
		endpoint + "http://localhost:8000?p=hunter2":  `AWS_ENDPOINT_URL_DYNAMODB is not`,
		endpoint + "http://localhost:8000?x@hunter2":  `AWS_ENDPOINT_URL_DYNAMODB is not`,
		endpoint + "http://localhost:8000#hunter2":    `AWS_ENDPOINT_URL_DYNAMODB is not`,
		onLambda + "AWS_MAX_ATTEMPTS=many":            "AWS_MAX_ATTEMPTS",
		onLambda + "AWS_USE_FIPS_ENDPOINT=on":         "AWS_USE_FIPS_ENDPOINT",
		onLambda + "AWS_USE_DUALSTACK_ENDPOINT=yes":   "AWS_USE_DUALSTACK_ENDPOINT",
	} {
		setEnv(t, vars)
		_, err := dynamo.NewClientFromEnv(t.Context(), discard)
		text := fmt.Sprint(err)
		if !strings.Contains(text, want) || strings.Contains(text, "\n") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %v, want one line that names %s, without password", vars, err, want)
		}
	}
}

// While a source of credentials is down or throttles, a retry may succeed, but not if it refuses.
func TestCredentials(t *testing.T) {
	status := 0
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
	}))
	defer source.Close()
	setEnv(t, "AWS_REGION=eu-central-1 AWS_MAX_ATTEMPTS=1 AWS_CONTAINER_CREDENTIALS_FULL_URI="+source.URL)
	for want, statuses := range map[error][]int{
		plants.ErrThrottled: {429}, plants.ErrUnreachable: {500, 503}, nil: {400, 403, 404},
	} {
		for _, status = range statuses {
			err := list.call(t.Context(), dynamo.New(newFromEnv(t), "plants"))
			wantSentinel(t, fmt.Sprint(status, " from the source"), err, want)
		}
	}
}

// The SDK doesn't retry after these errors, but a later call may succeed.
func TestUnreachable(t *testing.T) {
	noSuchHost := func(*http.Request) (*http.Response, error) { return nil, &net.DNSError{IsNotFound: true} }
	// The SDK gives the metadata service of an EC2 instance 5 s of its own.
	noRole := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, &smithy.CanceledError{Err: context.DeadlineExceeded}
	})
	for name, client := range map[string]*dynamodb.Client{
		"no such host": newOffline(t, aws.Config{}, noSuchHost),
		"no role":      newOffline(t, aws.Config{Region: "local", Credentials: noRole}, dynamolocal.Throttle),
	} {
		wantSentinel(t, name, list.call(t.Context(), dynamo.New(client, "plants")), plants.ErrUnreachable)
	}
}

// If a source of credentials doesn't respond once, the call asks it again.
func TestHangingCredentials(t *testing.T) {
	defer dynamo.SetSourceTimeout(200 * time.Millisecond)()
	var requests atomic.Int64
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the context ends with the connection
		if requests.Add(1) == 1 {
			<-r.Context().Done()
		}
		if r.Method == http.MethodPost { // STS
			_, _ = io.WriteString(w, "<R><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>a</AccessKeyId>"+
				"<SecretAccessKey>b</SecretAccessKey></Credentials></AssumeRoleWithWebIdentityResult></R>")
			return
		}
		_, _ = io.WriteString(w, `{"AccessKeyId": "a", "SecretAccessKey": "b"}`)
	}))
	defer source.Close()
	defer source.CloseClientConnections() // first, if one still waits
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, vars := range map[string]string{
		"container": "AWS_CONTAINER_CREDENTIALS_FULL_URI=" + source.URL,
		"STS":       "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/plants AWS_ENDPOINT_URL_STS=" + source.URL,
	} {
		setEnv(t, "AWS_REGION=eu-central-1 "+vars)
		if name == "STS" {
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token) // not by setEnv, since its path may contain spaces
		}
		client := newFromEnv(t)
		client.Options().HTTPClient.(*http.Client).Transport = dynamolocal.Fault(dynamolocal.Reply(200, "{}"))
		requests.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		if err := list.call(ctx, dynamo.New(client, "plants")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The client trusts AWS_CA_BUNDLE, uses HTTP/1.1, doesn't follow redirects, and closes its many idle
// connections before DynamoDB does.
func TestTransport(t *testing.T) {
	requests, protocol := 0, ""
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests, protocol = requests+1, r.Proto
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&block), 0o600); err != nil {
		t.Fatal(err)
	}
	setEnv(t, onLambda+"AWS_MAX_ATTEMPTS=1 AWS_ENDPOINT_URL_DYNAMODB="+server.URL)
	t.Setenv("AWS_CA_BUNDLE", bundle) // not by setEnv, since its path may contain spaces
	client := newFromEnv(t)
	transport := dynamo.Transport(client)
	if idle := transport.IdleConnTimeout; idle <= 0 || idle >= time.Minute {
		t.Errorf("idle connections stay for %v", idle)
	}
	if total, each := transport.MaxIdleConns, transport.MaxIdleConnsPerHost; min(total, each) < 64 {
		t.Errorf("%d idle connections, %d for a host, want at least 64", total, each)
	}
	transport.ResponseHeaderTimeout, transport.TLSHandshakeTimeout = 0, 0 // a busy machine may be slow
	_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err == nil || requests != 1 || protocol != "HTTP/1.1" {
		t.Errorf("%d requests by %s, want 1; error %v", requests, protocol, err)
	}
}
