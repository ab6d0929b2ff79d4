package main

import (
	"bytes"
	"os"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The embedded store and the token issuer are only for cmd/local: the issuer gives anyone
// a token for any user.
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
	const module = "example.com/plantstore/internal/"
	for name, want := range map[string]bool{
		module + "handlers.(*Service)": true,
		module + "bolt.Open":           false,
		module + "issuer.Open":         false,
		module + "swaggerui.Handler":   false,
	} {
		if got := bytes.Contains(program, []byte(name)); got != want {
			t.Errorf("cmd/lambda links %s: %t, want %t", name, got, want)
		}
	}
}
