package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/plantstore/internal/excerpt"
)

const (
	maxBodyBytes = 512 << 10 // per document; real ones are a few thousand bytes long

	// documentTimeout limits the fetch of each document. If the first name server doesn't
	// respond, the resolver asks the next one after 5 s (https://go.dev/issue/57694).
	documentTimeout = 6 * time.Second
	// handshakeTimeout limits the TLS handshake. A network that drops large packets lets it hang
	// (https://go.dev/issue/80573). It is shorter than documentTimeout, so that the error says TLS handshake.
	handshakeTimeout = 4 * time.Second
	// responseTimeout limits the wait after a document is requested. An issuer that accepts
	// connections and then hangs delays requests for so long.
	responseTimeout = 3 * time.Second
	// fetchTimeout limits a fetch of both documents. A request that waits for it still reads its body
	// afterwards, which must have arrived 8 s after the request began (ReadTimeout in cmd/local).
	fetchTimeout = 7 * time.Second
)

// newClient returns a client for metadata and keys. It doesn't follow redirects. Its
// connections last long enough for both documents and, after a failed fetch, for the next
// attempt. If a connection takes too long to open, net/http goes on opening it for the next attempt.
//
// It uses HTTP/1.1 alone, where a request that times out ends its connection. HTTP/2 would keep
// using one that has died without a sign (https://go.dev/issue/30702).
func newClient() *http.Client {
	t := &http.Transport{ // a clone of http.DefaultTransport might offer HTTP/2 in its TLS settings
		Proxy:                 http.ProxyFromEnvironment,
		Protocols:             new(http.Protocols),
		TLSHandshakeTimeout:   handshakeTimeout,
		ResponseHeaderTimeout: responseTimeout,
		IdleConnTimeout:       30 * time.Second,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK { // else the error would be "Forbidden", as if by the issuer
				return fmt.Errorf("the proxy responded: %w", statusError(resp))
			}
			return nil
		},
	}
	t.Protocols.SetHTTP1(true)
	doNotFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, CheckRedirect: doNotFollow}
}

// addresses returns the address of an issuer's keys. If it is unknown, addresses returns
// the address of the metadata that contains it (OpenID Connect Discovery 1.0).
func addresses(c Config) (keysURL, metadataURL string, err error) {
	if c.Keys != nil || c.KeysURL != "" {
		return c.KeysURL, "", nil
	}
	u, err := url.Parse(c.Issuer)
	if err != nil {
		return "", "", err
	}
	// Amazon Cognito documents the address of a user pool's keys.
	// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
	host := strings.TrimSuffix(u.Host, ".cn")
	if strings.HasPrefix(host, "cognito-idp.") && strings.HasSuffix(host, ".amazonaws.com") {
		return c.Issuer + "/.well-known/jwks.json", "", nil
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return "", u.Scheme + "://" + u.Host + path + "/.well-known/openid-configuration", nil
}

// download downloads the metadata, unless the address of the keys is configured, and then
// the keys. If the metadata can't be read, it uses the last known address, if any. It
// returns the address that it used.
func (k *issuerKeys) download(ctx context.Context, lastKnown string) (address string, set *KeySet, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	var metadataErr error
	if k.metadataURL != "" {
		address, metadataErr = k.downloadMetadata(ctx)
	}
	if address = cmp.Or(address, lastKnown); address == "" {
		return "", nil, metadataErr
	}
	err = k.get(ctx, address, func(body []byte) (err error) {
		set, err = ParseKeySet(body)
		return err
	})
	switch {
	case err != nil && metadataErr != nil: // either may be the cause
		err = fmt.Errorf("%w; %w", err, metadataErr)
	case metadataErr != nil:
		k.log.Warn("fetched the token keys, but not the issuer's metadata", "cause", metadataErr.Error())
	}
	return address, set, err
}

// downloadMetadata returns the address of the keys.
func (k *issuerKeys) downloadMetadata(ctx context.Context) (string, error) {
	var metadata struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	err := k.get(ctx, k.metadataURL, func(body []byte) error {
		err := unmarshalLeniently(body, &metadata)
		if err != nil || metadata.Issuer == "" || metadata.KeysURL == "" {
			return errors.New("not a JSON object with the strings issuer and jwks_uri")
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%w; if the issuer has no such document, set TOKEN_JWKS_URL", err)
	}
	if metadata.Issuer != k.issuer {
		return "", fmt.Errorf("the issuer in %.200s is %s, not %s: set TOKEN_ISSUER to the first if it is the iss of "+
			"tokens, or else set TOKEN_JWKS_URL", k.metadataURL, excerpt.Quote(metadata.Issuer), excerpt.Quote(k.issuer))
	}
	if err := CheckURL(metadata.KeysURL); err != nil {
		return "", fmt.Errorf("jwks_uri in %.200s: %w", k.metadataURL, err)
	}
	return metadata.KeysURL, nil
}

// get fetches a document and parses it. Errors are short, whatever the issuer sends, since
// anybody can cause them to be logged.
func (k *issuerKeys) get(ctx context.Context, address string, parse func(body []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return fmt.Errorf("GET %.200s: %.200v", withoutSecrets(req.URL), errors.Unwrap(err)) // a *url.Error repeats the URL
	}
	defer resp.Body.Close()
	if err := read(resp, parse); err != nil {
		return fmt.Errorf("GET %.200s: %w", withoutSecrets(req.URL), err)
	}
	return nil
}

// read reads and parses a document.
func read(resp *http.Response, parse func(body []byte) error) error {
	// Read the body whatever the status, so that the connection can be reused.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return statusError(resp)
	case err != nil:
		return err
	case len(body) > maxBodyBytes:
		return fmt.Errorf("more than %d bytes", maxBodyBytes)
	}
	if err := parse(body); err != nil {
		return fmt.Errorf("%w (content type %s)", err, excerpt.Quote(resp.Header.Get("Content-Type")))
	}
	return nil
}

// statusError returns an error for a response other than 200 OK. It names the target of a
// redirect, since the operator must configure that address.
func statusError(resp *http.Response) error {
	status := strings.TrimSpace(fmt.Sprintf("status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	if target, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		return fmt.Errorf("%s: the redirect to %.200s isn't followed", status, withoutSecrets(target))
	}
	return errors.New(status)
}

// CheckURL returns an error unless keys may be fetched from the address. It must be https,
// or http on this machine, which containers call host.docker.internal.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("not a valid URL")
	case u.Hostname() == "":
		return fmt.Errorf("the address %.100q has no host", withoutSecrets(u))
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return fmt.Errorf("the address %.100q must be https, except on this machine", withoutSecrets(u))
	}
	return nil
}

// withoutSecrets returns an address without the parts that may contain a password.
func withoutSecrets(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

func isLocal(host string) bool {
	host = strings.ToLower(host)
	return host == "localhost" || host == "host.docker.internal" || net.ParseIP(host).IsLoopback()
}
