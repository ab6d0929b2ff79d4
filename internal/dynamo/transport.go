package dynamo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Each step of an attempt has its own limit. Reading the body has none, since a page of 1 MB
// may take longer on a slow connection. Neither has the CONNECT request to an HTTPS proxy: it
// lasts until the request's context ends.
const (
	// lookupTimeout limits the lookup of the host's name. If the first name server is down,
	// the resolver waits 5 s before it asks the next one (https://go.dev/issue/57694).
	lookupTimeout = 6 * time.Second

	// stepTimeout limits the connection to an address, the TLS handshake, and the wait for
	// the response. DynamoDB responds in milliseconds.
	stepTimeout = time.Second
)

const (
	// idleTimeout closes idle connections before DynamoDB does, since a request
	// on a connection that is being closed costs an attempt. Users report that
	// DynamoDB may close connections after only a minute
	// (https://github.com/aws/aws-sdk-java/issues/1365) and that the SDK's 90 s
	// are too long (https://github.com/aws/aws-sdk-go-v2/issues/3423).
	idleTimeout = 30 * time.Second

	// maxIdleConns is enough for a busy server. With the SDK's limit of 10, such a
	// server would reconnect all the time.
	maxIdleConns = 100
)

// newHTTPClient returns a client that connects like base and follows no redirects, since
// they could send the session token elsewhere. The SDK's own client is slower: it sets
// a deadline for each read.
//
// It uses HTTP/1.1 alone. With HTTP/2, which a proxy may offer, concurrent requests would share a
// connection that has died without a sign (https://go.dev/issue/30702).
func newHTTPClient(base *awshttp.BuildableClient) *http.Client {
	dialer, t := base.GetDialer(), base.GetTransport()
	dialer.Timeout = stepTimeout
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, dialer, network, address)
	}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig.NextProtos = nil // base offers HTTP/2
	t.TLSHandshakeTimeout = stepTimeout
	t.ResponseHeaderTimeout = stepTimeout
	t.IdleConnTimeout = idleTimeout
	t.MaxIdleConns = maxIdleConns
	t.MaxIdleConnsPerHost = maxIdleConns
	doNotFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport{t}, CheckRedirect: doNotFollow}
}

// dial looks up the host of address, and connects to the first of its addresses that accepts.
// The dialer alone would count the lookup towards its limit. So with a limit that fits a slow
// lookup, an address that doesn't respond would leave time for only one attempt.
func dial(ctx context.Context, dialer *net.Dialer, network, address string) (conn net.Conn, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	ips, err := cmp.Or(dialer.Resolver, net.DefaultResolver).LookupHost(lookup, host)
	if err != nil {
		return nil, err
	}
	mixFamilies(ips)
	for _, ip := range ips {
		if conn, err = dialer.DialContext(ctx, network, net.JoinHostPort(ip, port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// mixFamilies makes the second address one of the other family, if there is one. IPv6 may swallow
// packets where IPv4 works, and then each of its addresses costs a second
// (https://go.dev/issue/22225).
func mixFamilies(ips []string) {
	isIPv6 := func(ip string) bool { return strings.Contains(ip, ":") }
	other := slices.IndexFunc(ips, func(ip string) bool { return isIPv6(ip) != isIPv6(ips[0]) })
	if other > 0 {
		ips[1], ips[other] = ips[other], ips[1]
	}
}

// A transport sends the SDK's requests in a way that suits net/http.
type transport struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	// The SDK closes its body when the response's headers arrive. If net/http is then still
	// looking for the end of the body, it closes the connection. So it gets another body.
	// https://github.com/aws/aws-sdk-go-v2/issues/1825
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	// net/http first checks the request, then calls GetConn, and calls GotConn once it has a
	// connection.
	var valid, reused bool
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { valid = true },
		GotConn: func(connection httptrace.GotConnInfo) { reused = connection.Reused },
	})
	request := r.WithContext(ctx)
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	request.Body, _ = request.GetBody()
	resp, err := t.Transport.RoundTrip(request)
	if err == nil || ctx.Err() != nil {
		return resp, err
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || !valid {
		return nil, refusedError{err}
	}
	// After a sleep or behind a NAT, idle connections may be dead without a sign, and each
	// would cost an attempt (https://go.dev/issue/29308).
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && reused {
		t.CloseIdleConnections()
	}
	return nil, err
}

// A refusedError is the reason why net/http doesn't send a request, such as credentials with
// a line break, or a certificate that isn't trusted. It isn't an outage.
type refusedError struct{ error }

// RetryableError tells the SDK not to retry the request.
func (refusedError) RetryableError() bool { return false }
