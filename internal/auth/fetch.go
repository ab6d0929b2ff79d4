package auth

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/plantstore/internal/logging"
)

const (
	maxBodyBytes = 512 << 10       // of a document; real ones have a few thousand
	fetchTimeout = 5 * time.Second // for a document, redirects included
	maxRedirects = 3
)

// A statusError is the status of a response without a document.
type statusError int

func (s statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", int(s), http.StatusText(int(s))))
}

// isNotFound reports whether err says that a document doesn't exist. S3 and API Gateway
// respond to unknown paths with 403.
func isNotFound(err error) bool {
	status, _ := errors.AsType[statusError](err)
	return status == http.StatusNotFound || status == http.StatusForbidden
}

// read reads a document and parses it.
func read[T any](client *http.Client, address string, parse func(body []byte) (T, error)) (parsed T, err error) {
	req, err := http.NewRequest(http.MethodGet, address, nil) // not with the context of a request that may end
	if err != nil {
		return parsed, err
	}
	resp, err := client.Do(req)
	if err != nil {
		err = errors.Unwrap(err) // a *url.Error repeats the whole address
		return parsed, fmt.Errorf("GET %s: %w", withoutSecrets(req.URL), err)
	}
	defer resp.Body.Close()
	// The body is read whatever the status, so that the connection can be used again.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = statusError(resp.StatusCode)
	case len(body) > maxBodyBytes:
		err = fmt.Errorf("more than %d bytes", maxBodyBytes)
	case err == nil:
		if parsed, err = parse(body); err != nil {
			err = fmt.Errorf("%w (content type %s)", err, logging.Quote(resp.Header.Get("Content-Type")))
		}
	}
	if err != nil {
		err = fmt.Errorf("GET %s: %w", withoutSecrets(resp.Request.URL), err) // after redirects
	}
	return parsed, err
}

// withLimits returns a copy of client that takes at most fetchTimeout for a document, and
// follows at most maxRedirects redirects, to addresses that CheckURL accepts.
func withLimits(client *http.Client) *http.Client {
	limited := *client
	limited.Timeout = fetchTimeout
	limited.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return CheckURL(req.URL.String())
	}
	return &limited
}

// CheckURL returns an error unless keys may be fetched from an address: with https
// or, on this machine or for a container on it, http.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("not a valid URL")
	case u.Hostname() == "":
		return fmt.Errorf("the address %q has no host", withoutSecrets(u))
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return fmt.Errorf("the address %q must be https, except on this machine", withoutSecrets(u))
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
