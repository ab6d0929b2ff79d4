package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"example.com/plantstore/test/lambdalocal"
)

// A candidate is a program to measure.
type candidate struct {
	name   string
	binary string
	env    []string
}

// newCandidates returns the programs to measure: the reference, the reference
// with the settings of template.yaml, the service with the system's certificates,
// as for an issuer outside AWS, and the service, for which the servers are AWS's
// hosts. dir is an empty folder for the system's certificates.
func newCandidates(reference string, e *endpoint, dir string) ([]candidate, error) {
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		return nil, err
	}
	serviceOnAWS, err := lambdalocal.BuildForAWS(e.certificate)
	if err != nil {
		return nil, err
	}
	system := "/etc/ssl/certs/ca-certificates.crt" // Debian, Ubuntu
	if _, err := os.Stat(system); err != nil {
		system = "/etc/pki/tls/certs/ca-bundle.crt" // Fedora, Amazon Linux
	}
	certificates, err := os.ReadFile(system)
	if err != nil {
		return nil, errors.New("no system certificates: install the package ca-certificates")
	}
	if err := splitCertificates(dir, append(certificates, e.certificate...)); err != nil {
		return nil, err
	}
	env := []string{
		"SSL_CERT_FILE=" + system, "SSL_CERT_DIR=" + dir,
		"AWS_ENDPOINT_URL_DYNAMODB=" + e.dynamoDB.URL, "TABLE_NAME=plants",
		"TOKEN_ISSUER=" + issuerName, "TOKEN_AUDIENCE=" + audience, "TOKEN_JWKS_URL=" + e.issuer.URL + "/keys",
	}
	tuned := slices.Concat(env, []string{"GOMAXPROCS=1", "GOGC=400"})
	return []candidate{
		{"reference", reference, env},
		{"reference, tuned", reference, tuned},
		{"service, other issuer", service, tuned},
		{"service", serviceOnAWS, tuned},
	}, nil
}

// splitCertificates writes each certificate of a PEM file to a file of its own in
// dir. Lambda's provided.al2023 has such files in /etc/ssl/certs, which Go reads
// after the file that has all of them. https://go.dev/issue/79018
func splitCertificates(dir string, certificates []byte) error {
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		name := fmt.Sprintf("%d.pem", len(rest)) // which no other has
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
