package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/harness"
)

// A candidate is one of those that are compared.
type candidate struct {
	name, binary string
	env          []string
	token        string               // that the calls send
	results      map[string][]float64 // by row of the table
}

// add adds a duration to the results of a row, in milliseconds.
func (c candidate) add(row string, d time.Duration) {
	c.results[row] = append(c.results[row], float64(d)/1e6)
}

// build returns the reference and the service with two kinds of issuers, built as the
// Makefile does and with the environment of template.yaml, and then the reference without
// that.
func build(e *endpoint, dir string) ([]candidate, error) {
	os.Setenv("CGO_ENABLED", "0")
	flags := []string{"-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w"}
	reference, err1 := harness.Build("test/bench/reference", flags...)
	service, err2 := harness.Build("cmd/lambda", flags...)
	roots, err3 := writeRoots(e.certificate, dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	env := append(roots, "AWS_ENDPOINT_URL_DYNAMODB="+e.dynamoDB.URL, "TABLE_NAME=plants")
	asDeployed := append(slices.Clip(env), "GOMAXPROCS=1", "SSL_CERT_DIR=/var/empty") // as in template.yaml
	with := func(issuer string, settings ...string) []string {
		return slices.Concat(asDeployed, []string{"TOKEN_ISSUER=" + issuer, "TOKEN_AUDIENCE=" + authtest.Audience}, settings)
	}
	newCandidate := func(name, binary string, env []string, issuer string) candidate {
		return candidate{name, binary, env, e.token(issuer), map[string][]float64{}}
	}
	// The service knows where Amazon Cognito has its keys. Of another issuer, it reads the
	// metadata first.
	cognito, other := authtest.IssuerURL, e.issuer.URL
	return []candidate{
		newCandidate("minimal function", reference, asDeployed, cognito),
		newCandidate("service, Amazon Cognito", service, with(cognito, "TOKEN_JWKS_URL="+e.issuer.URL+keysPath), cognito),
		newCandidate("service, other issuer", service, with(other), other),
		newCandidate("minimal function, default environment", reference, env, cognito),
	}, nil
}

// writeRoots writes the system's certificates and another one to dir, and returns the
// settings that make Go read them. As on Lambda's provided.al2023, they are all in one
// file, which Go reads first, and each in a file of its own. https://go.dev/issue/79018
func writeRoots(other []byte, dir string) (env []string, err error) {
	system, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		return nil, err
	}
	system = append(system, other...)
	bundle, each := filepath.Join(dir, "bundle"), filepath.Join(dir, "each")
	if err := errors.Join(os.WriteFile(bundle, system, 0o600), os.Mkdir(each, 0o700)); err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(system); block != nil; block, rest = pem.Decode(rest) {
		name := filepath.Join(each, fmt.Sprint(len(rest), ".pem")) // which no other has
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"SSL_CERT_FILE=" + bundle, "SSL_CERT_DIR=" + each}, nil
}
