package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"example.com/plantstore/test/tools"
)

// A candidate is a program to measure.
type candidate struct {
	name   string
	binary string
	env    []string
}

// newCandidates returns the programs to measure: the reference, the reference
// with the settings of template.yaml, the service without the template's
// certificates, as for an issuer outside AWS, and the service. dir is a folder
// for files that they read.
func newCandidates(service, reference string, e *endpoint, dir string) ([]candidate, error) {
	system, amazon, err := writeRoots(dir, e.root)
	if err != nil {
		return nil, err
	}
	// Without SSL_CERT_DIR Go also reads folders of this machine.
	env := []string{
		"SSL_CERT_FILE=" + system, "SSL_CERT_DIR=" + filepath.Join(dir, "none"),
		"AWS_ENDPOINT_URL_DYNAMODB=" + e.dynamoDB.URL, "TABLE_NAME=plants",
		"TOKEN_ISSUER=" + issuerName, "TOKEN_AUDIENCE=" + audience, "TOKEN_JWKS_URL=" + e.issuer.URL + "/keys",
	}
	tuned := slices.Concat(env, []string{"GOMAXPROCS=1", "GOGC=400"})
	deployed := slices.Concat(tuned, []string{"SSL_CERT_FILE=" + amazon})
	return []candidate{
		{"reference", reference, env},
		{"reference, tuned", reference, deployed},
		{"service, other issuer", service, tuned},
		{"service", service, deployed},
	}, nil
}

// writeRoots writes two files of trusted certificates to dir: the system's, and
// those that are deployed with the function. Both also have the certificate in
// root.
//
// The system's are one file. Without settings Go also reads all files in
// /etc/ssl/certs and /etc/pki/tls/certs. Where these contain the file again, as
// on Amazon Linux, programs without our settings start more slowly than here.
func writeRoots(dir string, root []byte) (system, amazon string, err error) {
	top, err := tools.Root()
	if err != nil {
		return "", "", err
	}
	own, err := os.ReadFile(filepath.Join(top, "cmd", "lambda", "amazon-roots.pem"))
	if err != nil {
		return "", "", err
	}
	all, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt") // Debian, Ubuntu
	if errors.Is(err, os.ErrNotExist) {
		all, err = os.ReadFile("/etc/pki/tls/certs/ca-bundle.crt") // Fedora, Amazon Linux
	}
	if err != nil {
		return "", "", fmt.Errorf("no system certificates; install the package ca-certificates: %w", err)
	}
	system, amazon = filepath.Join(dir, "system.pem"), filepath.Join(dir, "amazon.pem")
	return system, amazon, errors.Join(
		os.WriteFile(system, append(all, root...), 0o600),
		os.WriteFile(amazon, append(own, root...), 0o600),
	)
}
