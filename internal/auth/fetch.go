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
	"time"
)

// The limits of a fetch of one document.
const (
	maxBodyBytes = 512 << 10 // real documents have a few thousand
	maxRedirects = 3
	fetchTimeout = 5 * time.Second // redirects and body included
)

// get fetches rawURL and parses the body. It outlives the request that needs it.
func get(client *http.Client, rawURL string, parse func(body []byte) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return err
	}
	req.Close = true // the next fetch is an hour away
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		err = errors.Unwrap(err) // a *url.Error repeats the whole address
		return fmt.Errorf("GET %s: %w", withoutSecrets(req.URL), err)
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
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" { // net/http removes gzip
		return nil, fmt.Errorf("content encoding %s: the server must send gzip or none", quote(encoding))
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxBodyBytes))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = fmt.Errorf("more than %d bytes", maxBodyBytes)
	}
	return body, err
}

// restrict returns a copy of client that follows only redirects to acceptable
// addresses.
func restrict(client *http.Client) *http.Client {
	restricted := *client
	restricted.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		req.Close = true // as of the first request
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("redirect from https to http")
		}
		return checkURL(req.URL.String())
	}
	return &restricted
}

// checkURL accepts https and, on this machine or for a container on it, http.
func checkURL(rawURL string) error {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return errors.New("the address of the keys is not a valid URL")
	case u.Hostname() == "":
		return fmt.Errorf("the address %q of the keys has no host", withoutSecrets(u))
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return fmt.Errorf("the address %q of the keys must be https", withoutSecrets(u))
	}
	return nil
}

// withoutSecrets returns an address for messages, without the parts that may
// contain a password.
func withoutSecrets(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

func isLocal(host string) bool {
	host = strings.ToLower(host)
	return host == "localhost" || host == "host.docker.internal" || net.ParseIP(host).IsLoopback()
}
