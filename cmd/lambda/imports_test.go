package main

import (
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// The embedded store and the token issuer are only for cmd/local: the issuer gives anyone
// a token for any user.
func TestLinkedPackages(t *testing.T) {
	linked, err := harness.Run("go", "list", "-deps", ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"handlers": true, "bolt": false, "issuer": false, "swaggerui": false} {
		if got := slices.Contains(strings.Fields(linked), "example.com/plantstore/internal/"+name); got != want {
			t.Errorf("cmd/lambda links %s: %t, want %t", name, got, want)
		}
	}
}
