package auth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"example.com/plantstore/internal/logging"
)

const (
	maxBodyBytes = 512 << 10       // of a document; real ones have a few thousand
	fetchTimeout = 5 * time.Second // for a document, redirects included
	maxRedirects = 3
)

// newIssuerKeys returns the keys that c describes, but fetches none yet. Issuers have
// metadata (OpenID Connect Discovery 1.0, RFC 8414) or, as the user pools of Amazon
// Cognito, a known address.
func newIssuerKeys(c Config, scopes []string, client *http.Client, log *slog.Logger) (*issuerKeys, error) {
	k := &issuerKeys{
		client:       restrict(client),
		log:          log,
		issuer:       c.Issuer,
		scopes:       scopes,
		fixed:        c.Keys != nil,
		set:          c.Keys,
		source:       source{address: c.KeysURL},
		clock:        newClock(),
		keyStep:      &step{ended: true},
		metadataStep: &step{ended: true},
		changed:      make(chan struct{}),
		searches:     rate.NewLimiter(rate.Every(2*time.Second), 3),
		warnings:     rate.Sometimes{Interval: time.Second},
	}
	if c.Keys != nil || c.KeysURL != "" {
		return k, nil
	}
	u, err := url.Parse(c.Issuer)
	if err != nil {
		return nil, err
	}
	if isCognito(u) {
		k.source.address = c.Issuer + "/.well-known/jwks.json"
		return k, nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	k.metadata = []string{
		origin + path + "/.well-known/openid-configuration",
		origin + "/.well-known/oauth-authorization-server" + path, // RFC 8414 section 3.1
	}
	return k, nil
}

// isCognito reports whether an issuer is a user pool.
// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
func isCognito(issuer *url.URL) bool {
	host := strings.TrimSuffix(issuer.Host, ".cn")
	return strings.HasPrefix(host, "cognito-idp.") && strings.HasSuffix(host, ".amazonaws.com")
}

// readMetadata returns what the first document says that exists. A document that can't
// be read may name scopes, so the next one doesn't replace it.
func (k *issuerKeys) readMetadata(s *step) (source, error) {
	var missing []string
	for _, address := range k.metadata {
		k.mu.Lock()
		s.began = k.clock.now()
		k.mu.Unlock()
		found, err := read(k.client, address, k.parseMetadata)
		status, _ := errors.AsType[statusError](err)
		if status != http.StatusNotFound && status != http.StatusForbidden { // S3's and API Gateway's for unknown paths
			return found, err
		}
		missing = append(missing, err.Error())
	}
	return source{}, fmt.Errorf("no metadata of the token issuer: %s", strings.Join(missing, "; "))
}

// parseMetadata reads the members that matter. An odd one in scopes_supported
// doesn't make the service unavailable.
func (k *issuerKeys) parseMetadata(body []byte) (source, error) {
	var m members
	if err := unmarshalLeniently(body, &m); err != nil {
		return source{}, errors.New("not a JSON object with issuer and jwks_uri")
	}
	issuer, _ := unquote(m["issuer"])
	if issuer != k.issuer {
		return source{}, fmt.Errorf("its issuer is %s, not %s", logging.Quote(issuer), logging.Quote(k.issuer))
	}
	address, _ := unquote(m["jwks_uri"])
	return source{address, k.scopes.publishedIn(m["scopes_supported"])}, CheckURL(address)
}

// A statusError is the status of a response without a document.
type statusError int

func (s statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", int(s), http.StatusText(int(s))))
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

// restrict returns a copy of client with our limits.
func restrict(client *http.Client) *http.Client {
	restricted := *client
	restricted.Timeout = fetchTimeout
	restricted.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return CheckURL(req.URL.String())
	}
	return &restricted
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
