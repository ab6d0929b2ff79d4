package main

import (
	"strings"
	"testing"
)

// noEnv is an empty environment.
func noEnv(string) string { return "" }

func TestParseFlags(t *testing.T) {
	for args, want := range map[string]options{
		"": {addr: "127.0.0.1:8080", data: ".data", store: "bolt"},
		"-store bolt -data d -addr :0 -expose-issuer": {addr: ":0", data: "d", store: "bolt", exposeIssuer: true},
	} {
		if got, err := parseFlags(strings.Fields(args), noEnv); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", args, got, err, want)
		}
	}
	if got, err := parseFlags([]string{"-store", "sqlite"}, noEnv); err == nil {
		t.Errorf("an unknown store is accepted: %+v", got)
	}
}
