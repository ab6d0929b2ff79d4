package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/lambdalocal"
)

// The embedded roots apply to the connections for DynamoDB and for the token keys,
// from the first request on. Package awsroots tests when the system's roots apply.
func TestRoots(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, for SSL_CERT_FILE")
	}
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	aws := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			w.Write(issuer.JWKS())
			return
		}
		io.WriteString(w, `{"Count":0,"Items":[],"ScannedCount":0}`) // of DynamoDB
	}))
	aws.Config.ErrorLog = log.New(io.Discard, "", 0)
	aws.StartTLS()
	t.Cleanup(aws.Close)
	program, err := lambdalocal.BuildForAWS(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: aws.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	event := fmt.Appendf(nil, `{"version":"2.0","rawPath":"/plants","headers":{"authorization":"Bearer %s"},"requestContext":{"http":{"method":"GET"}}}`, issuer.Token("alice"))
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: program, Env: append(validEnv(t),
		"AWS_ENDPOINT_URL_DYNAMODB="+aws.URL, "TOKEN_JWKS_URL="+aws.URL+"/keys", "TOKEN_JWKS=",
		"SSL_CERT_FILE=/nonexistent", "SSL_CERT_DIR=/nonexistent")})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got, err := e.Invoke(t.Context(), event)
	if err != nil || !strings.HasPrefix(string(got), `{"statusCode":200,`) {
		t.Errorf("%v\n%s", err, got)
	}
	e.Close() // which completes the log
	if log := e.Stdout.String(); strings.Contains(log, "AWS uses new root certificates") {
		t.Errorf("the system's roots were used:\n%s", log)
	}
}
