package main

import (
	"errors"
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
// hosts. dir is a folder for the certificate of the servers, which the system
// trusts.
//
// The system's certificates are one file here. Without settings Go also reads
// all files in /etc/ssl/certs and /etc/pki/tls/certs. Where these contain the
// file again, as on Amazon Linux, programs without our settings start more
// slowly than here.
func newCandidates(reference string, e *endpoint, dir string) ([]candidate, error) {
	service, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		return nil, err
	}
	serviceOnAWS, err := lambdalocal.BuildForAWS(e.certificate)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "servers.pem"), e.certificate, 0o600); err != nil {
		return nil, err
	}
	system := "/etc/ssl/certs/ca-certificates.crt" // Debian, Ubuntu
	if _, err := os.Stat(system); err != nil {
		system = "/etc/pki/tls/certs/ca-bundle.crt" // Fedora, Amazon Linux
	}
	if _, err := os.Stat(system); err != nil {
		return nil, errors.New("no system certificates: install the package ca-certificates")
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
