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

	"example.com/plantstore/internal/logging"
)

const (
	maxBodyBytes    = 512 << 10       // of a document; real ones have a few thousand
	maxRedirects    = 3               // for a document
	fetchTimeout    = 3 * time.Second // for all documents of a fetch
	metadataTimeout = time.Second     // if the address of the keys is known without them
)

// read reads the keys. If their address comes from the metadata, it reads that first,
// since the issuer may have moved its keys and still serve the old ones at the known
// address. If the metadata can't be read, the known address is used.
//
// The address is returned even if the keys can't be read. With it the next fetch succeeds
// if the issuer is too slow for both documents.
func (k *issuerKeys) read(ctx context.Context, known string) (address string, set *KeySet, err error) {
	defer k.client.CloseIdleConnections() // the next fetch may be an hour away
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	address = known
	var metadataErr error
	if len(k.metadata) > 0 {
		address, metadataErr = k.readMetadata(ctx, known)
	}
	if address == "" {
		k.warn("token keys not fetched", metadataErr)
		return "", nil, metadataErr
	}
	set, err = get(ctx, k.client, address, ParseKeySet)
	if err != nil {
		if metadataErr != nil { // which may be the reason
			err = fmt.Errorf("%w; %w", err, metadataErr)
		}
		k.warn("token keys not fetched", err)
	} else if metadataErr != nil {
		k.warn("metadata of the token issuer not fetched; the keys were", metadataErr)
	}
	return address, set, err
}

func (k *issuerKeys) warn(message string, cause error) {
	k.warnings.Do(func() { k.log.Warn(message, "cause", cause.Error()) })
}

// readMetadata returns the address of the keys or, beside an error, the known one. It
// requests the second document only if the first doesn't exist.
func (k *issuerKeys) readMetadata(ctx context.Context, known string) (address string, err error) {
	if known != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, metadataTimeout)
		defer cancel()
	}
	var missing []string
	for _, document := range k.metadata {
		address, err := get(ctx, k.client, document, k.parseMetadata)
		if err == nil {
			return address, nil
		}
		if !isNotFound(err) {
			return known, err
		}
		missing = append(missing, err.Error())
	}
	return known, fmt.Errorf("no metadata of the token issuer: %s", strings.Join(missing, "; "))
}

// parseMetadata returns the address of the keys.
func (k *issuerKeys) parseMetadata(body []byte) (string, error) {
	var m members
	if err := unmarshalLeniently(body, &m); err != nil {
		return "", errors.New("not a JSON object with issuer and jwks_uri")
	}
	issuer, _ := unquote(m["issuer"])
	if issuer != k.issuer {
		return "", fmt.Errorf("its issuer is %s, not %s", logging.Quote(issuer), logging.Quote(k.issuer))
	}
	address, _ := unquote(m["jwks_uri"])
	if err := CheckURL(address); err != nil {
		return "", err
	}
	return address, nil
}

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

// get reads a document and parses it. Errors are short, whatever the issuer sends, since
// anybody can have them logged.
func get[T any](ctx context.Context, client *http.Client, address string, parse func(body []byte) (T, error)) (parsed T, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return parsed, err
	}
	resp, err := client.Do(req)
	if err != nil {
		err = errors.Unwrap(err) // a *url.Error repeats the whole address
		return parsed, fmt.Errorf("GET %.200s: %.200v", withoutSecrets(req.URL), err)
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
		err = fmt.Errorf("GET %.200s: %w", withoutSecrets(resp.Request.URL), err) // after redirects
	}
	return parsed, err
}

// withLimits returns a copy of client that follows at most maxRedirects redirects, to
// addresses that CheckURL accepts.
func withLimits(client *http.Client) *http.Client {
	limited := *client
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
