package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/test/tools"
)

// A request is sent exactly as given.
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

// send sends r and returns the answer. It returns an error if the answer lacks
// what every answer must have. It is safe for concurrent use.
func (c *client) send(tb testing.TB, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), tools.Patience) // cleanup functions call send, too
	defer cancel()
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.transport.RoundTrip(req) // doesn't follow redirects
	if err != nil {
		return answer{}, fmt.Errorf("no answer: %w\n%s", err, r)
	}
	defer resp.Body.Close()
	if c.Amend != nil {
		c.Amend(resp)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, fmt.Errorf("incomplete answer: %w\n%s", err, r)
	}
	a := answer{resp.StatusCode, resp.Header, body}
	err = checkAlways(r, a)
	if err == nil && c.Check != nil {
		seen := req.Clone(ctx)
		seen.URL, _ = url.ParseRequestURI(r.target)
		err = c.Check(seen, r.body, resp, body)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s%s", err, r, a)
	}
	return a, err
}

// want returns err, or an error if the answer has none of the statuses.
func want(a answer, err error, statuses ...int) error {
	if err == nil && !slices.Contains(statuses, a.status) {
		err = fmt.Errorf("want status %d:\n%s", statuses, a)
	}
	return err
}

// newRequest keeps net/http from adding or changing anything.
func (c *client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.Base, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.URL.Opaque = req.URL.Path + r.target
	if strings.HasPrefix(req.URL.Opaque, "//") { // would be parsed as a host
		req.URL.RawPath, req.URL.RawQuery, _ = strings.Cut(req.URL.Opaque, "?")
		req.URL.Path, err = url.PathUnescape(req.URL.RawPath)
		req.URL.Opaque = ""
	}
	req.Header["User-Agent"] = nil // suppresses the default
	for _, line := range r.headers {
		switch name, value := splitHeader(line); strings.ToLower(name) {
		case "content-length":
			return nil, fmt.Errorf("a script can't set Content-Length")
		case "transfer-encoding":
			req.TransferEncoding, req.ContentLength = []string{value}, -1
		default:
			req.Header[name] = append(req.Header[name], value)
		}
	}
	return req, err
}

// jwt matches tokens, which are printed in part only.
var jwt = regexp.MustCompile(`(eyJ[\w-]{8})[\w.-]+`)

// String returns the request in the format of a script, with long bodies
// truncated.
func (r request) String() string {
	body := string(r.body)
	if len(body) > 2000 {
		body = fmt.Sprintf("%.1000q… (%d bytes)", body, len(body))
	}
	text := r.method + " " + r.target + "\n" + strings.Join(append(slices.Clone(r.headers), "", body), "\n")
	return prefixed("> ", jwt.ReplaceAllString(text, "$1…"))
}

// String returns the answer in the format of a script.
func (a answer) String() string {
	var header strings.Builder
	a.header.Write(&header)
	return prefixed("< ", fmt.Sprintf("%d\n%s\n%s", a.status, strings.ReplaceAll(header.String(), "\r", ""), a.body))
}

func prefixed(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

// checkAlways checks what holds for every answer of the service: caches must not
// store it, its body is JSON that ends with a newline, a failure has the Error
// shape, and it has the headers that HTTP requires for its status.
func checkAlways(r request, a answer) error {
	if got := a.header.Values("Cache-Control"); !slices.Equal(got, []string{"no-store"}) {
		return fmt.Errorf("Cache-Control is %q, want no-store", got)
	}
	required := map[int]string{
		http.StatusUnauthorized:       "WWW-Authenticate", // RFC 9110 section 15.5.2
		http.StatusMethodNotAllowed:   "Allow",            // section 15.5.6
		http.StatusServiceUnavailable: "Retry-After",      // section 15.6.4
	}
	if name := required[a.status]; name != "" && a.header.Get(name) == "" {
		return fmt.Errorf("status %d without %s", a.status, name)
	}
	if a.status == http.StatusNoContent {
		if values, ok := a.header["Content-Type"]; ok {
			return fmt.Errorf("status 204 with Content-Type %q", values)
		}
		return nil
	}
	if got := a.header.Values("Content-Type"); !slices.Equal(got, []string{"application/json"}) {
		return fmt.Errorf("Content-Type is %q, want application/json", got)
	}
	if r.method == http.MethodHead {
		return nil
	}
	if !bytes.HasSuffix(a.body, []byte("\n")) || !jsontext.Value(a.body).IsValid() {
		return fmt.Errorf("the body is not JSON with a newline at the end")
	}
	if a.status >= 400 {
		return checkError(a)
	}
	return nil
}

// checkError checks the Error shape, with a code that belongs to the status.
func checkError(a answer) error {
	var body struct {
		Error   int32  `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(a.body, &body, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("the body doesn't have the Error shape: %w", err)
	}
	if int(body.Error)/100 != a.status || body.Message == "" {
		return fmt.Errorf("error %d with message %q does not belong to status %d", body.Error, body.Message, a.status)
	}
	return nil
}
