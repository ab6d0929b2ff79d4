package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

// A client sends requests as one user.
type client struct {
	*testing.T
	Front
	token string
}

// as returns a client with another token, or with none.
func (c client) as(token string) client {
	c.token = token
	return c
}

// A request is sent exactly as written.
type request struct {
	client
	method, target, content string
	headers                 http.Header
}

// do returns a request with the client's token.
func (c client) do(method, target string) request {
	r := request{client: c, method: method, target: target, headers: http.Header{"User-Agent": nil}}
	if c.token != "" {
		r.header("Authorization", "Bearer "+c.token)
	}
	return r
}

// header adds a header.
func (r request) header(name, value string) request {
	r.headers.Add(name, value)
	return r
}

// body returns the request with a body.
func (r request) body(text string) request {
	r.content = text
	return r
}

// json returns the request with a body that it declares as JSON.
func (r request) json(text string) request {
	return r.header("Content-Type", "application/json").body(text)
}

// delete deletes a plant that may be gone already.
func (c client) delete(id string) {
	resp, body, err := c.do("DELETE", "/plants/"+id).send()
	if err != nil {
		c.Fatalf("plant %s can't be deleted: %v", id, err)
	}
	if resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotFound {
		c.Errorf("plant %s can't be deleted: %s %s", id, resp.Status, body)
	}
}

// anything, as a wanted body, matches every body.
const anything = "anything"

// fails expects an error with any message.
func (r request) fails(code int) {
	r.Helper()
	r.expect(code/100, fmt.Sprintf(`{"error":%d,`, code))
}

// gets expects a status and a body, and reports whether the response matches.
func (r request) gets(status int, body string) bool {
	r.Helper()
	if body != "" && body != anything {
		body += "\n"
	}
	return r.expect(status, body)
}

// expect is like gets, but of an error it needs only the beginning. It repeats a list that
// may show an earlier state.
func (r request) expect(status int, body string) bool {
	r.Helper()
	err := r.try(status, body)
	list := r.method == http.MethodGet && status == 200
	for end := time.Now().Add(r.Lag); err != nil && list && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
		err = r.try(status, body)
	}
	if err != nil {
		r.Errorf("%s %s with %.200q:\n%v", r.method, r.target, r.content, err)
	}
	return err == nil
}

// link returns the query in the Link header of the response.
func (r request) link() string {
	r.Helper()
	resp, _, err := r.send()
	if err != nil {
		r.Error(err)
		return ""
	}
	link := resp.Header.Get("Link")
	query, ok := strings.CutSuffix(link, `>; rel="next"`)
	if !ok || !strings.HasPrefix(query, "<?") {
		r.Errorf("%s %s: Link is %q", r.method, r.target, link)
		return ""
	}
	return query[1:]
}

// try sends the request and compares the response. Without a response it ends the test: the
// next request would probably wait as long.
func (r request) try(status int, want string) error {
	r.Helper()
	resp, body, err := r.send()
	if err != nil {
		r.Fatalf("%s %s: %v", r.method, r.target, err)
	}
	matches := body == want || want == anything || status >= 400 && strings.HasPrefix(body, want)
	if resp.StatusCode != status || !matches {
		return fmt.Errorf(" got %d %.500s\nwant %d %.500s", resp.StatusCode, body, status, want)
	}
	if want == anything || (r.Gateway || r.SAMLocal) && status == http.StatusNoContent {
		return nil
	}
	return r.checkHeaders(resp)
}

// checkHeaders checks the headers of every response from the service.
func (r request) checkHeaders(resp *http.Response) (err error) {
	want := map[string]string{
		"Cache-Control":          "no-store",
		"X-Content-Type-Options": "nosniff",
		"Content-Type":           "application/json",
	}
	if resp.StatusCode == http.StatusNoContent {
		want["Content-Type"] = ""
	}
	if r.method == http.MethodOptions {
		want["Allow"] = "GET, HEAD, OPTIONS, POST"
	}
	for name, value := range want {
		if got := strings.Join(resp.Header.Values(name), "\n"); got != value {
			err = errors.Join(err, fmt.Errorf("the header %s is %q, want %q", name, got, value))
		}
	}
	if resp.Header.Get("X-Request-Id") == "" {
		err = errors.Join(err, errors.New("there is no X-Request-Id"))
	}
	return err
}

// send sends the request, follows no redirect, and returns the response with its body.
func (r request) send() (*http.Response, string, error) {
	target, err := url.Parse(r.Base + r.target)
	if err != nil { // an invalid path, sent as it is
		if target, err = url.Parse(r.Base); err != nil {
			return nil, "", err
		}
		target.Opaque = r.target
	}
	ctx := context.WithoutCancel(r.Context()) // cleanup functions also call send
	req, err := http.NewRequestWithContext(ctx, r.method, r.Base, strings.NewReader(r.content))
	if err != nil {
		return nil, "", err
	}
	req.URL, req.Header = target, r.headers
	return harness.RoundTrip(req)
}
