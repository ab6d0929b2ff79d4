// Package awsroots makes TLS connections that trust the roots of AWS. Loading all
// roots of the system takes longer than connecting.
package awsroots

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bundle has the roots of Amazon Trust Services, which AWS's hosts use. It is from
// Debian's package ca-certificates (20230311), which has it from Mozilla.
// https://www.amazontrust.com/repository/
//
//go:embed roots.pem
var bundle []byte

// suffixes are those of AWS's hosts in the partitions aws and aws-us-gov. Other
// partitions have other domains, and may use other roots.
var suffixes = []string{".amazonaws.com", ".api.aws"}

// timeout limits a connection including its handshake.
const timeout = 5 * time.Second

// DialTLS returns a function for [http.Transport.DialTLSContext]. It trusts the
// embedded roots for AWS's hosts, and the system's for others.
//
// If the certificate of one of AWS's hosts is from another root, because AWS uses new
// ones, the function logs a warning and from then on trusts the system's roots for
// all hosts.
//
// The connections are for HTTP/1.1. Connections through a proxy don't use the
// function but the transport's own settings.
func DialTLS(log *slog.Logger) func(ctx context.Context, network, addr string) (net.Conn, error) {
	roots := sync.OnceValue(func() *x509.CertPool {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(bundle)
		return pool
	})
	var outdated atomic.Bool
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if isAWS(addr) && !outdated.Load() {
			conn, err := dial(ctx, network, addr, roots())
			if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown {
				return conn, err
			}
			outdated.Store(true)
			log.Warn("AWS uses new root certificates; trusting the system's", "address", addr, "cause", err.Error())
		}
		return dial(ctx, network, addr, nil)
	}
}

// dial connects with the given roots, or the system's if nil.
func dial(ctx context.Context, network, addr string, roots *x509.CertPool) (net.Conn, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: &tls.Config{RootCAs: roots}}
	return d.DialContext(ctx, network, addr)
}

func isAWS(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}
