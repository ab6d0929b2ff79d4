package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// A request is sent exactly as given.
type request = openapi.Request

type answer struct {
	sent   request
	status int // 0 if there was no answer
	header http.Header
	body   string
}

// A client sends requests to a target. It is safe for concurrent use.
type client struct {
	Target
	token string // if not empty, requests have it
}

// newClient returns a client. Each of its exchanges must fit api/openapi.yaml, beside
// what the test expects: see send.
func newClient(target Target, token string) *client { return &client{Target: target, token: token} }

// as returns a client with another token.
func (c *client) as(token string) *client { return newClient(c.Target, token) }

// frontHeaders are the headers that an HTTP API, sam local and CORS add.
var frontHeaders = []string{"Apigw-Requestid", "Server", "Vary"}

var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}

// send sends r and returns the answer. It returns an error if the status is not a wanted
// one, or if the exchange contradicts the OpenAPI document. Only scripts give no status,
// since they compare it themselves.
func (c *client) send(tb testing.TB, r request, wanted ...int) (a answer, err error) {
	if c.token != "" {
		r.Header = slices.Concat([]string{"Authorization", "Bearer " + c.token}, r.Header)
	}
	a.sent = r
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, a)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), harness.Patience) // cleanup functions call send, too
	defer cancel()
	req, err := newRequest(ctx, c.Base, r)
	if err != nil {
		return a, err
	}
	resp, err := transport.RoundTrip(req) // doesn't follow redirects
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if (isSAM(resp) || c.Gateway) && resp.StatusCode == http.StatusNoContent {
		for _, name := range []string{"Content-Type", "Content-Length"} { // which these add
			resp.Header.Del(name)
		}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	a.status, a.header, a.body = resp.StatusCode, resp.Header.Clone(), string(body)
	if wanted != nil && !slices.Contains(wanted, a.status) {
		return a, fmt.Errorf("want status %d", wanted)
	}
	for _, name := range frontHeaders {
		resp.Header.Del(name)
	}
	seen := req.WithContext(ctx) // a copy
	if seen.URL, err = url.ParseRequestURI(r.Target); err != nil {
		return a, err
	}
	if err := document.Validate(seen, []byte(r.Body), resp, body); err != nil {
		return a, fmt.Errorf("%w; if the service is right, document this exchange in api/openapi.yaml", err)
	}
	return a, nil
}

// isSAM reports whether a response is from sam local.
func isSAM(resp *http.Response) bool { return strings.HasPrefix(resp.Header.Get("Server"), "Werkzeug") }

// newRequest keeps net/http from adding anything.
func newRequest(ctx context.Context, base string, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, base+r.Target, strings.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header["User-Agent"] = nil // suppresses the default
	for pair := range slices.Chunk(r.Header, 2) {
		if name, value := pair[0], pair[1]; name == "Transfer-Encoding" {
			req.TransferEncoding, req.ContentLength = []string{value}, -1
		} else {
			req.Header[name] = append(req.Header[name], value)
		}
	}
	return req, nil
}

// jwt matches tokens, which are printed in part only.
var jwt = regexp.MustCompile(`(eyJ[\w-]{8})[\w.-]+`)

// String returns the request and its answer, with a long body truncated.
func (a answer) String() string {
	sent := fmt.Sprintf("> %s %s\n> %q\n> %.2000s", a.sent.Method, a.sent.Target, a.sent.Header, a.sent.Body)
	return fmt.Sprintf("%s\n< %d\n< %q\n< %s", jwt.ReplaceAllString(sent, "$1…"), a.status, a.header, a.body)
}
