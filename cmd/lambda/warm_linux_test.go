package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/internal/testing/lambdalocal"
)

// The init connects to DynamoDB and fetches the token keys, so that requests needn't. The test
// uses SSL_CERT_FILE, which has no effect on some other systems.
func TestWarm(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	var keys, dynamodb atomic.Int32
	aws := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			keys.Add(1)
			w.Write(issuer.JWKS())
			return
		}
		dynamodb.Add(1)
		io.WriteString(w, `{"Count":0,"Items":[],"ScannedCount":0}`)
	}))
	aws.Config.ErrorLog = log.New(io.Discard, "", 0)
	aws.StartTLS()
	t.Cleanup(aws.Close)
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: aws.Certificate().Raw})
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(bundle, root, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: program, Env: []string{
		"TOKEN_ISSUER=" + authtest.IssuerURL, "TOKEN_AUDIENCE=" + authtest.Audience, "TOKEN_JWKS_URL=" + aws.URL + "/keys",
		"AWS_ENDPOINT_URL_DYNAMODB=" + aws.URL, "SSL_CERT_FILE=" + bundle, "SSL_CERT_DIR=/nonexistent",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.WaitReady(t.Context()); err != nil {
		t.Fatalf("%v:\n%s", err, e.Stdout.String())
	}
	if keys.Load() != 1 || dynamodb.Load() == 0 { // a busy machine may need more than one attempt
		t.Errorf("the init sent %d requests for keys and %d to DynamoDB, want both: warm must send them:\n%s",
			keys.Load(), dynamodb.Load(), e.Stdout.String())
	}
	got, err := e.Invoke(t.Context(), fmt.Appendf(nil,
		`{"version":"2.0","rawPath":"/plants","headers":{"authorization":"Bearer %s"},`+
			`"requestContext":{"http":{"method":"GET"}}}`, issuer.Token("alice")))
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":200,`) || keys.Load() != 1 {
		t.Errorf("%v after %d requests for keys, want status 200 after one\n%s", err, keys.Load(), got)
	}
}
