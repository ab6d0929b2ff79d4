// Command bench compares the cold start and the warm calls of the deployed function with
// those of a minimal function (see reference) in the same environment. It prints a table
// of the medians. The programs run in turns, so that background load affects all equally.
// The network to DynamoDB and the issuer is simulated. It needs Linux.
package main

import (
	"context"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/testing/harness"
)

func main() {
	rounds := flag.Int("rounds", 30, "`number` of runs of each program, at least 1")
	flag.Parse()
	candidates, err := run(context.Background(), *rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	fmt.Printf("Medians of %d runs on %s, %s, %d processors:\n\n%s", *rounds,
		time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), table(candidates))
}

// run measures each program rounds times.
func run(ctx context.Context, rounds int) ([]candidate, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	candidates, err := build(dir)
	if err != nil {
		return nil, err
	}
	for round := range rounds {
		for i := range candidates {
			c := candidates[(i+round)%len(candidates)] // so that each runs first in turn
			if err := c.measure(ctx, dir, round); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return candidates, nil
}

// The round trips to DynamoDB, in the function's region, and to issuers.
const dynamoDBRoundTrip = 3 * time.Millisecond

var issuerRoundTrips = []time.Duration{0, 40 * time.Millisecond}

// build returns the minimal function, and the service with different sources of the keys,
// built as in the Makefile and with the environment of template.yaml.
func build(dir string) ([]candidate, error) {
	dynamoDB := newServer(dynamoDBRoundTrip, serveDynamoDB) // runs as long as this program
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: dynamoDB.Certificate().Raw})
	os.Setenv("CGO_ENABLED", "0")
	flags := []string{"-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w"}
	minimal, err1 := harness.Build("test/bench/reference", flags...)
	service, err2 := harness.Build("cmd/lambda", flags...)
	// Every program reads the system's root certificates, as on Lambda.
	roots, err3 := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	bundle := filepath.Join(dir, "roots.pem")
	err4 := os.WriteFile(bundle, append(roots, certificate...), 0o600)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	newCandidate := func(name, binary, issuer string, settings ...string) candidate {
		return candidate{name, binary, token(issuer), map[string][]float64{}, append(settings,
			"AWS_ENDPOINT_URL_DYNAMODB="+dynamoDB.URL, "TABLE_NAME=plants",
			"TOKEN_ISSUER="+issuer, "TOKEN_AUDIENCE="+authtest.Audience,
			"SSL_CERT_FILE="+bundle, "SSL_CERT_DIR=/var/empty", "GOMAXPROCS=1")}
	}
	candidates := []candidate{
		newCandidate("minimal function", minimal, authtest.IssuerURL),
		newCandidate("service, `TOKEN_JWKS`", service, authtest.IssuerURL, "TOKEN_JWKS="+string(keys.JWKS())),
	}
	for _, roundTrip := range issuerRoundTrips {
		issuer := newServer(roundTrip, serveIssuer).URL // the same certificate
		far := fmt.Sprintf(", %d ms away", roundTrip.Milliseconds())
		candidates = append(candidates,
			newCandidate("service, `TOKEN_JWKS_URL`"+far, service, authtest.IssuerURL, "TOKEN_JWKS_URL="+issuer+keysPath),
			newCandidate("service, metadata"+far, service, issuer))
	}
	return candidates, nil
}

// table returns a table in Markdown with the medians of each candidate in milliseconds,
// and their ratios to those of the first candidate.
func table(candidates []candidate) string {
	var s strings.Builder
	fmt.Fprintf(&s, "| ms | %s |\n|---%s|\n", strings.Join(columns, " | "), strings.Repeat("|--:", len(columns)))
	for _, c := range candidates {
		fmt.Fprintf(&s, "| %s |", c.name)
		for _, column := range columns {
			m := median(c.results[column])
			fmt.Fprintf(&s, " %.1f (%.2f) |", m, m/median(candidates[0].results[column]))
		}
		s.WriteString("\n")
	}
	return s.String()
}

// median returns the upper one of two medians.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
