package dynamo

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// NewClient returns a client for a [Store], set up by the environment alone, as
// it is on Lambda: by means of getenv, which is os.Getenv but in tests. Empty
// means unset. [NewClientFromConfig] says what else there is to a client.
//
// It reads these of the SDK's variables, with the SDK's meaning: AWS_REGION,
// AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_ACCOUNT_ID, AWS_ENDPOINT_URL_DYNAMODB,
// AWS_ENDPOINT_URL, AWS_USE_FIPS_ENDPOINT, AWS_USE_DUALSTACK_ENDPOINT,
// AWS_CA_BUNDLE and AWS_MAX_ATTEMPTS. It reads no files of settings and looks
// for credentials nowhere else. That spares a program the code that would, and
// its start the search; package sdkconfig has all of it.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
func NewClient(getenv func(string) string, logger *slog.Logger) (*dynamodb.Client, error) {
	cfg := aws.Config{
		Region:                cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
		AccountIDEndpointMode: aws.AccountIDEndpointModePreferred, // the SDK's default
	}
	if endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_DYNAMODB"), getenv("AWS_ENDPOINT_URL")); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	for _, set := range []func(*aws.Config, func(string) string) error{
		setCredentials, setVariant, setBundle, setAttempts,
	} {
		if err := set(&cfg, getenv); err != nil {
			return nil, err
		}
	}
	return NewClientFromConfig(cfg, logger)
}

// setCredentials reads the credentials, which DynamoDB Local alone can do
// without.
func setCredentials(cfg *aws.Config, getenv func(string) string) error {
	key, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	switch {
	case key == "" && secret == "" && isLocal(cfg.BaseEndpoint):
		return nil
	case key == "" || secret == "":
		return errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set: set them, this program looks for credentials nowhere else")
	}
	cfg.Credentials = credentials.StaticCredentialsProvider{Value: aws.Credentials{
		AccessKeyID:     key,
		SecretAccessKey: secret,
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
		AccountID:       getenv("AWS_ACCOUNT_ID"),
		Source:          "environment",
	}}
	return nil
}

// setVariant reads which of a region's endpoints is meant.
func setVariant(cfg *aws.Config, getenv func(string) string) error {
	fips, err := isTrue(getenv, "AWS_USE_FIPS_ENDPOINT")
	if err != nil {
		return err
	}
	dualStack, err := isTrue(getenv, "AWS_USE_DUALSTACK_ENDPOINT")
	if err != nil {
		return err
	}
	cfg.ServiceOptions = append(cfg.ServiceOptions, func(_ string, options any) {
		o := options.(*dynamodb.Options)
		if fips {
			o.EndpointOptions.UseFIPSEndpoint = aws.FIPSEndpointStateEnabled
		}
		if dualStack {
			o.EndpointOptions.UseDualStackEndpoint = aws.DualStackEndpointStateEnabled
		}
	})
	return nil
}

func isTrue(getenv func(string) string, name string) (bool, error) {
	switch v := getenv(name); strings.ToLower(v) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fmt.Errorf("%s: %q is neither true nor false", name, v)
	}
}

// setBundle reads the certificates to trust in place of the system's.
func setBundle(cfg *aws.Config, getenv func(string) string) error {
	const name = "AWS_CA_BUNDLE"
	file := getenv(name)
	if file == "" {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b) {
		return fmt.Errorf("%s: %s has no certificates in PEM", name, file)
	}
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.TLSClientConfig.RootCAs = roots
	})
	return nil
}

// setAttempts reads how often a call is tried.
func setAttempts(cfg *aws.Config, getenv func(string) string) error {
	const name = "AWS_MAX_ATTEMPTS"
	v := getenv(name)
	if v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return fmt.Errorf("%s: %q is no number of attempts: it is 1 or more", name, v)
	}
	cfg.RetryMaxAttempts = n
	return nil
}
