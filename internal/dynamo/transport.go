package dynamo

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Each step of an attempt has its own limit. Reading the body has none, since a page of 1 MB
// may take longer on a slow connection.
const (
	// connectTimeout limits the lookup of the host's name and the connection together. If the first
	// name server is down, the lookup alone takes 5 s (https://go.dev/issue/57694).
	// net.Dialer shares the limit among the host's addresses.
	connectTimeout = 6 * time.Second

	// stepTimeout limits the TLS handshake, and the wait for the response. DynamoDB responds in
	// milliseconds.
	stepTimeout = time.Second

	// idleTimeout closes idle connections before DynamoDB does, after a minute by some reports
	// (https://github.com/aws/aws-sdk-java/issues/1365, https://github.com/aws/aws-sdk-go-v2/issues/3423).
	idleTimeout = 30 * time.Second

	// maxIdleConns is enough for a busy server. With the SDK's limit of 10, such a
	// server would reconnect all the time.
	maxIdleConns = 100
)

// newHTTPClient returns a client that connects like base and follows no redirects, since
// they could send the session token elsewhere. The SDK's own client is slower: it sets
// a deadline for each read.
func newHTTPClient(base *awshttp.BuildableClient) *http.Client {
	t := base.WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).GetTransport()
	// Over HTTP/2, which a proxy may offer, requests would share a connection that has died
	// without a sign (https://go.dev/issue/30702).
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

// A transport sends the SDK's requests in a way that suits net/http.
type transport struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	// The SDK closes the request's body when the response's headers arrive. If net/http is then still
	// looking for the end of the body, it closes the connection. So net/http gets a copy.
	// https://github.com/aws/aws-sdk-go-v2/issues/1825
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	request := r.Clone(r.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := t.Transport.RoundTrip(request)
	// After a sleep or behind a NAT, idle connections may be dead without a sign, and each
	// would cost an attempt (https://go.dev/issue/29308).
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && r.Context().Err() == nil {
		t.CloseIdleConnections()
	}
	return resp, err
}
