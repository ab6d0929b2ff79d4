package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A request is sent as it stands.
type request struct {
	method  string
	target  string   // path and query
	headers []string // lines
	body    []byte
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// A client sends requests to a target.
type client struct {
	Target
	transport *http.Transport
}

func newClient(target Target) *client {
	return &client{target, &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}
}

// send returns the answer to r, after it has checked what holds for every
// answer. It can be called from any goroutine.
func (c *client) send(tb testing.TB, r request) (answer, error) {
	// Cleaning up sends, too. Longer than any server takes.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), 40*time.Second)
	defer cancel()
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.transport.RoundTrip(req) // unlike http.Client, it follows no redirects
	if err != nil {
		return answer{}, fmt.Errorf("no answer: %w\n%s", err, r)
	}
	defer resp.Body.Close()
	if c.Amend != nil {
		c.Amend(resp)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, fmt.Errorf("the answer did not arrive whole: %w\n%s", err, r)
	}
	a := answer{resp.StatusCode, resp.Header, body}
	if err := checkAlways(r, a); err != nil {
		return a, fmt.Errorf("%w\n%s%s", err, r, a)
	}
	if c.Observe != nil {
		seen := req.Clone(ctx)
		seen.URL, _ = url.Parse(c.Base + r.target)
		c.Observe(tb, seen, r.body, resp, body)
	}
	return a, nil
}

// newRequest keeps net/http from adding or changing anything.
func (c *client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.Base, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.URL.Opaque = req.URL.Path + r.target
	if strings.HasPrefix(req.URL.Opaque, "//") { // where it would be taken for a host
		req.URL.RawPath, req.URL.RawQuery, _ = strings.Cut(req.URL.Opaque, "?")
		req.URL.Path, err = url.PathUnescape(req.URL.RawPath)
		req.URL.Opaque = ""
	}
	req.Header["User-Agent"] = nil // or else net/http sends its own
	for _, line := range r.headers {
		switch name, value := splitHeader(line); strings.ToLower(name) {
		case "host":
			req.Host = value
		case "content-length":
			return nil, fmt.Errorf("Content-Length is not for a script to set")
		case "transfer-encoding":
			req.TransferEncoding, req.ContentLength = []string{value}, -1
		default:
			req.Header[name] = append(req.Header[name], value)
		}
	}
	return req, err
}

// tokens are cut short where they are shown.
var tokens = regexp.MustCompile(`(eyJ[\w-]{8})[\w.-]+`)

// String returns the request as a script has it, long bodies cut short.
func (r request) String() string {
	body := string(r.body)
	if len(body) > 2000 {
		body = fmt.Sprintf("%.1000q… (%d bytes)", body, len(body))
	}
	text := r.method + " " + r.target + "\n" + strings.Join(append(slices.Clone(r.headers), "", body), "\n")
	return prefixed("> ", tokens.ReplaceAllString(text, "$1…"))
}

// String returns the whole answer as a script has it.
func (a answer) String() string {
	lines := []string{fmt.Sprint(a.status)}
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		for _, value := range a.header[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return prefixed("< ", strings.Join(append(lines, "", string(a.body)), "\n"))
}

func prefixed(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		b.WriteString(strings.TrimRight(prefix+line, " \n") + "\n")
	}
	return b.String()
}
