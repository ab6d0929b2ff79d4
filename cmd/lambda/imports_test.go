package main

import (
	"bytes"
	"os"
	"testing"

	"example.com/plantstore/test/lambdalocal"
)

// The SDK looks for credentials in many places, by code that would make the
// package larger and each cold start slower. On Lambda they are in the
// environment, so the linker can drop that code.
func TestLinksNoSearchForCredentials(t *testing.T) {
	bootstrap, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	// The binary contains the name of each of its functions.
	const sdk = "github.com/aws/aws-sdk-go-v2/"
	for name, want := range map[string]bool{
		"config.NewEnvConfig": true, "service/dynamodb.(*Client)": true,
		"config.LoadDefaultConfig": false, "service/sso.(*Client)": false, "service/ssooidc.(*Client)": false,
		"service/signin.(*Client)": false, "service/sts.(*Client)": false, "feature/ec2/imds.(*Client)": false,
	} {
		if got := bytes.Contains(program, []byte(sdk+name)); got != want {
			t.Errorf("cmd/lambda links %s: %t, want %t; it should call dynamo.EnvConfig, not dynamo.LoadConfig", name, got, want)
		}
	}
}
