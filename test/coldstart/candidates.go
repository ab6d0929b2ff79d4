package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "example.com/plantstore/"

// template is what template.yaml sets for speed, but for the certificates.
var template = []string{"GOMAXPROCS=1", "GOGC=400"}

// roots are two stores of certificates, as files. Each has the endpoint's root.
type roots struct {
	system  string // as any program has it
	amazon  string // as template.yaml narrows it
	none    string // a folder that isn't there
	folders string // more of the system's
}

// systemRoots are where Linux systems have their certificates.
var systemRoots = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}

// newRoots puts both stores into dir, each with the certificates in own.
//
// Without settings, Go reads the first file of a list and then all files of two
// folders, /etc/ssl/certs and /etc/pki/tls/certs. Where these are one, and have
// the file, as on systems like Red Hat's, that makes readings 3; it is 1 if
// nothing but the file is read. See crypto/x509/root_linux.go.
func newRoots(dir string, own []byte, readings int) (r roots, err error) {
	r = roots{filepath.Join(dir, "system", "all.pem"), filepath.Join(dir, "amazon.pem"), filepath.Join(dir, "none"), ""}
	r.folders = strings.TrimSuffix(strings.Repeat(filepath.Dir(r.system)+":", readings-1), ":")
	if readings == 1 {
		r.folders = r.none
	}
	var system []byte
	for _, file := range systemRoots {
		if system, err = os.ReadFile(file); err == nil {
			break
		}
	}
	if err != nil {
		return r, fmt.Errorf("no certificates of this system: install ca-certificates (%w)", err)
	}
	amazon, err := amazonRoots()
	if err != nil {
		return r, err
	}
	return r, errors.Join(
		os.MkdirAll(filepath.Dir(r.system), 0o700),
		os.WriteFile(r.system, append(system, own...), 0o600),
		os.WriteFile(r.amazon, append(amazon, own...), 0o600),
	)
}

// amazonRoots returns the file that is deployed with the function.
func amazonRoots() ([]byte, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Module.Dir}}", module+"cmd/lambda").Output()
	if err != nil {
		return nil, fmt.Errorf("the module %s isn't here: run this in its folder (%w)", module, err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "cmd", "lambda", "amazon-roots.pem"))
}

// environ returns what Lambda and the template set for every function.
func environ(e *endpoint) []string {
	return []string{
		"_HANDLER=bootstrap", "PATH=/usr/local/bin:/usr/bin/:/bin:/opt/bin", "LANG=en_US.UTF-8", "TZ=:UTC",
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=ASIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_SESSION_TOKEN=example",
		"AWS_LAMBDA_FUNCTION_NAME=plants", "AWS_LAMBDA_FUNCTION_VERSION=1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128",
		"AWS_ENDPOINT_URL_DYNAMODB=" + e.dynamoDB,
		"TABLE_NAME=plants",
		"TOKEN_ISSUER=" + issuerName, "TOKEN_AUDIENCE=" + audience, "TOKEN_JWKS_URL=" + e.issuer + "/keys",
	}
}

// newCandidates returns the functions to measure: the reference, which others
// are compared with, the service, and either as the other's settings make it.
// Each of more is another program in the service's place, or the service with
// other settings: NAME=BINARY,VARIABLE=VALUE,… with BINARY empty for the
// service's own.
func newCandidates(service, reference string, e *endpoint, r roots, more []string) ([]candidate, error) {
	system := append(environ(e), "SSL_CERT_FILE="+r.system, "SSL_CERT_DIR="+r.folders)
	amazon := slices.Concat(environ(e), []string{"SSL_CERT_FILE=" + r.amazon, "SSL_CERT_DIR=" + r.none}, template)
	candidates := []candidate{
		{name: "reference", binary: reference, env: system},
		{name: "reference, our settings", binary: reference, env: amazon},
		{name: "service, another issuer", binary: service, env: slices.Concat(system, template)},
		{name: "service", binary: service, env: amazon},
	}
	for _, s := range more {
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("-with %q has no =: it is NAME=BINARY,VARIABLE=VALUE,…", s)
		}
		parts := strings.Split(rest, ",")
		c := candidate{name: name, binary: parts[0], env: slices.Concat(amazon, parts[1:])}
		if c.binary == "" {
			c.binary = service
		}
		candidates = append(candidates, c)
	}
	for i, c := range candidates {
		size, err := zipSize(c.binary)
		if err != nil {
			return nil, err
		}
		candidates[i].zip = size
	}
	return candidates, nil
}

// zipSize returns the size of a program when it is deployed, in bytes.
func zipSize(binary string) (int64, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return 0, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create("bootstrap")
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(f, bytes.NewReader(program))
	err = errors.Join(err, z.Close())
	return int64(b.Len()), err
}
