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
	maxKeySetBytes = 512 << 10 // real key sets have a few thousand
	maxRedirects   = 3
)

// getKeySet fetches the key set at rawURL.
func getKeySet(ctx context.Context, client *http.Client, rawURL string) (*keySet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true // the next fetch is an hour away
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	set, err := readKeySet(resp)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", req.URL.Redacted(), err)
	}
	return set, nil
}

func readKeySet(resp *http.Response) (*keySet, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySetBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeySetBytes {
		return nil, fmt.Errorf("more than %d bytes", maxKeySetBytes)
	}
	return parseKeySet(body)
}

func checkURL(u *url.URL) error {
	if u.Hostname() == "" {
		return fmt.Errorf("the address of the issuer's keys, %s, has no host", u.Redacted())
	}
	if u.Scheme == "https" || u.Scheme == "http" && isLocal(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("the address of the issuer's keys, %s, must be https", u.Redacted())
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
