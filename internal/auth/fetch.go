package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxBodyBytes = 512 << 10 // real documents have a few thousand
	maxRedirects = 3
)

// getKeySet fetches the key set at rawURL.
func getKeySet(ctx context.Context, client *http.Client, rawURL string) (set *keySet, err error) {
	err = get(ctx, client, rawURL, func(body []byte) error {
		set, err = parseKeySet(body)
		return err
	})
	return set, err
}

// get fetches rawURL and parses the body.
func get(ctx context.Context, client *http.Client, rawURL string, parse func(body []byte) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return err
	}
	req.Close = true // the next fetch is an hour away
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		// A *url.Error repeats the whole address, and this cause that of a redirect.
		cause := errors.Unwrap(err)
		if strings.HasPrefix(cause.Error(), "failed to parse Location header") {
			cause = errors.New("malformed Location header")
		}
		return fmt.Errorf("GET %s: %w", withoutSecrets(req.URL), cause)
	}
	defer resp.Body.Close()
	body, err := read(resp)
	if err == nil {
		if err = parse(body); err != nil {
			err = fmt.Errorf("%w (content type %s)", err, quote(resp.Header.Get("Content-Type")))
		}
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", withoutSecrets(resp.Request.URL), err) // after redirects
	}
	return nil
}

func read(resp *http.Response) ([]byte, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	if err == nil && len(body) > maxBodyBytes {
		err = fmt.Errorf("more than %d bytes", maxBodyBytes)
	}
	return body, err
}

// restrict returns a copy of client, which may be nil, that follows only redirects
// to acceptable addresses.
func restrict(client *http.Client) *http.Client {
	restricted := new(http.Client)
	if client != nil {
		*restricted = *client
	}
	restricted.CheckRedirect = checkRedirect
	return restricted
}

// checkURL accepts https and, on this machine, http.
func checkURL(u *url.URL) error {
	switch {
	case u.Hostname() == "":
		return fmt.Errorf("%q has no host", withoutSecrets(u))
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return fmt.Errorf("%q must be https", withoutSecrets(u))
	}
	return nil
}

// withoutSecrets returns an address for messages, without the parts that may
// contain a password.
func withoutSecrets(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

func isLocal(host string) bool {
	switch strings.ToLower(host) {
	case "localhost", "host.docker.internal":
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	return checkURL(req.URL)
}
