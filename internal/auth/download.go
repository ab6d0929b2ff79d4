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
	"sync"
	"time"

	"example.com/plantstore/internal/excerpt"
)

const (
	maxBodyBytes = 512 << 10       // per document; real ones are a few thousand bytes long
	fetchTimeout = 3 * time.Second // for a fetch of one or both documents
)

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
	return "", u.Scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/") + "/.well-known/openid-configuration", nil
}

// download downloads the keys at the given address and, unless the address is configured, the
// metadata that contains it. It does both concurrently, so that each has the
// whole fetchTimeout. It returns the address for the next fetch, which is when a new
// address in the metadata takes effect.
func (k *issuerKeys) download(ctx context.Context, address string) (next string, set *KeySet, err error) {
	defer k.client.CloseIdleConnections() // the next fetch may be an hour away
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if address == "" {
		// The two documents share the time. If an issuer is too slow for both, this fetch
		// fails, but returns the address. So the next one can download both concurrently.
		if address, err = k.downloadMetadata(ctx); err == nil {
			set, err = k.downloadKeys(ctx, address)
		}
		return address, set, err
	}
	var moved string
	var metadataErr error
	var group sync.WaitGroup
	if k.metadataURL != "" {
		group.Go(func() { moved, metadataErr = k.downloadMetadata(ctx) })
	}
	set, err = k.downloadKeys(ctx, address)
	group.Wait()
	switch {
	case err != nil && metadataErr != nil: // either may be the cause
		err = fmt.Errorf("%w; %w", err, metadataErr)
	case metadataErr != nil:
		k.warn("fetched the token keys, but not the issuer's metadata", metadataErr)
	}
	return cmp.Or(moved, address), set, err
}

func (k *issuerKeys) warn(message string, cause error) {
	k.warnings.Do(func() { k.log.Warn(message, "cause", cause.Error()) })
}

func (k *issuerKeys) downloadKeys(ctx context.Context, address string) (set *KeySet, err error) {
	err = k.get(ctx, address, func(body []byte) (err error) {
		set, err = ParseKeySet(body)
		return err
	})
	return set, err
}

// downloadMetadata returns the address of the keys.
func (k *issuerKeys) downloadMetadata(ctx context.Context) (address string, err error) {
	err = k.get(ctx, k.metadataURL, func(body []byte) (err error) {
		address, err = k.parseMetadata(body)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%w; if the issuer has no such document, set TOKEN_JWKS_URL", err)
	}
	return address, nil
}

// parseMetadata returns the address of the keys.
func (k *issuerKeys) parseMetadata(body []byte) (string, error) {
	var m members
	if err := unmarshalLeniently(body, &m); err != nil {
		return "", errors.New("not a JSON object with issuer and jwks_uri")
	}
	issuer, _ := unquote(m["issuer"])
	if issuer != k.issuer {
		return "", fmt.Errorf("its issuer is %s, not %s", excerpt.Quote(issuer), excerpt.Quote(k.issuer))
	}
	address, _ := unquote(m["jwks_uri"])
	if err := CheckURL(address); err != nil {
		return "", err
	}
	return address, nil
}

// get fetches a document and parses it. Errors are short, whatever the issuer sends, since
// anybody can cause them to be logged.
func (k *issuerKeys) get(ctx context.Context, address string, parse func(body []byte) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := k.client.Do(req)
	if err != nil {
		err = errors.Unwrap(err) // a *url.Error repeats the whole address
		return fmt.Errorf("GET %.200s: %.200v", withoutSecrets(req.URL), err)
	}
	defer resp.Body.Close()
	// Read the body whatever the status, so that the connection can be reused.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = statusError(resp)
	case len(body) > maxBodyBytes:
		err = fmt.Errorf("more than %d bytes", maxBodyBytes)
	case err == nil:
		if err = parse(body); err != nil {
			err = fmt.Errorf("%w (content type %s)", err, excerpt.Quote(resp.Header.Get("Content-Type")))
		}
	}
	if err != nil {
		err = fmt.Errorf("GET %.200s: %w", withoutSecrets(req.URL), err)
	}
	return err
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

// withoutRedirects returns a copy of client that doesn't follow redirects.
func withoutRedirects(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
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
