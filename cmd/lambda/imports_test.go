package main

import (
	"bytes"
	"os"
	"testing"

	"example.com/plantstore/test/harness"
)

// The SDK's config package looks for credentials in many places. It would make the
// package larger and each cold start slower, even if only its reading of the
// environment were used, because it initializes other packages. The embedded store
// and the token issuer, which gives anyone a token for any user, are for cmd/local.
func TestLinkedPackages(t *testing.T) {
	bootstrap, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	// The binary contains the name of each of its functions.
	const sdk, module = "github.com/aws/aws-sdk-go-v2/", "example.com/plantstore/internal/"
	for name, want := range map[string]bool{
		sdk + "config.":                    false,
		sdk + "service/dynamodb.(*Client)": true,
		sdk + "service/sso.(*Client)":      false,
		sdk + "service/ssooidc.(*Client)":  false,
		sdk + "service/signin.(*Client)":   false,
		sdk + "service/sts.(*Client)":      false,
		sdk + "feature/ec2/imds.(*Client)": false,
		module + "handlers.(*Service)":     true,
		module + "bolt.Open":               false,
		module + "issuer.Open":             false,
		module + "page.Handler":            false,
	} {
		if got := bytes.Contains(program, []byte(name)); got != want {
			t.Errorf("cmd/lambda links %s: %t, want %t; see awsenv.Config for the SDK", name, got, want)
		}
	}
}
