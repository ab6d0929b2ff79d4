package main

import (
	"reflect"
	"strings"
	"testing"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/selftest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
)

// Before a version gets traffic, it tries the table of each store that the service has.
func TestSelftestTables(t *testing.T) {
	t.Parallel()
	bootstrap, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: bootstrap, Env: []string{
		"TOKEN_ISSUER=https://issuer.example", "TOKEN_AUDIENCE=plants", "TOKEN_JWKS_URL=http://127.0.0.1:1",
		"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "AWS_MAX_ATTEMPTS=1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	report, err := e.Invoke(t.Context(), []byte(selftest.Event))
	for _, table := range config.Tables {
		if err != nil || !strings.Contains(string(report), `"`+table.Resource+`":"storage unreachable`) {
			t.Errorf("the function doesn't check %s: %s, %v", table.Resource, report, err)
		}
	}
	stores := 0
	for parameter := range reflect.TypeOf(handlers.New).Ins() {
		if strings.HasPrefix(parameter.Name(), "Store[") {
			stores++
		}
	}
	if stores != len(config.Tables) {
		t.Errorf("the service has %d stores, but Tables of internal/config/tables.go has %d tables", stores, len(config.Tables))
	}
}
