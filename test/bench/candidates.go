package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/harness"
)

// A candidate is one of those that are compared.
type candidate struct {
	name, binary string
	env          []string
	results      map[string][]float64 // by row of the table
}

// add adds a duration to the results of a row, in milliseconds.
func (c candidate) add(row string, d time.Duration) {
	c.results[row] = append(c.results[row], float64(d)/1e6)
}

// build returns the reference and the service, built as the Makefile does, but with
// 127.0.0.1 as one of AWS's hosts: see internal/awsroots/loopback.go.
func build(e *endpoint, dir string) ([]candidate, error) {
	os.Setenv("CGO_ENABLED", "0")
	flags := []string{"-tags", "lambda.norpc,loopback_as_aws", "-trimpath", "-ldflags", "-s -w"}
	reference, err1 := harness.Build("test/bench/reference", flags...)
	service, err2 := harness.Build("cmd/lambda", flags...)
	roots, err3 := writeRoots(e.certificate, dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	env := append(roots, "LOOPBACK_ROOTS="+string(e.certificate), "AWS_ENDPOINT_URL_DYNAMODB="+e.dynamoDB.URL, "TABLE_NAME=plants",
		"TOKEN_ISSUER="+authtest.IssuerURL, "TOKEN_AUDIENCE="+authtest.Audience, "TOKEN_JWKS_URL="+e.issuer.URL)
	asDeployed := append(slices.Clip(env), "GOMAXPROCS=1", "GOGC=400", "SSL_CERT_DIR=/var/empty") // as in template.yaml
	// Another spelling of the address is not one of AWS's hosts.
	outside := "TOKEN_JWKS_URL=" + strings.Replace(e.issuer.URL, "127.0.0.1", "[::ffff:7f00:1]", 1)
	return []candidate{
		{"minimal function", reference, env, map[string][]float64{}},
		{"service, issuer on AWS", service, asDeployed, map[string][]float64{}},
		{"service, other issuer", service, append(slices.Clip(asDeployed), outside), map[string][]float64{}},
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
