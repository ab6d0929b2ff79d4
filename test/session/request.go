package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// A Client sends requests to a front as one user. Of the front it needs only the address.
type Client struct {
	*testing.T
	Front
	Token string
}

// As returns a client with another token, or with none.
func (c Client) As(token string) Client {
	c.Token = token
	return c
}

// Create creates a plant.
func (c Client) Create(p plants.Plant) {
	c.Helper()
	c.Do("POST", "/plants").JSON(plantstest.CreateJSON(p)).Gets(200, plantstest.ResponseJSON(p))
}

// Owns expects a list of exactly these plants, in one page.
func (c Client) Owns(all ...plants.Plant) {
	c.Helper()
	var want []string
	for _, p := range all {
		want = append(want, plantstest.CreateJSON(p))
	}
	c.Do("GET", "/plants?include=id").Gets(200, "["+strings.Join(want, ",")+"]")
}

// A Request is sent exactly as written.
type Request struct {
	Client
	method, target, content string
	headers                 http.Header
}

// Do returns a request with the client's token.
func (c Client) Do(method, target string) Request {
	r := Request{Client: c, method: method, target: target, headers: http.Header{"User-Agent": nil}}
	if c.Token != "" {
		r.Header("Authorization", "Bearer "+c.Token)
	}
	return r
}

// Header adds a header.
func (r Request) Header(name, value string) Request {
	r.headers.Add(name, value)
	return r
}

// Body returns the request with a body.
func (r Request) Body(text string) Request {
	r.content = text
	return r
}

// JSON returns the request with a body that it declares as JSON.
func (r Request) JSON(text string) Request {
	return r.Header("Content-Type", "application/json").Body(text)
}

// delete deletes a plant that may be gone already.
func (c Client) delete(id string) {
	resp, body, err := c.Do("DELETE", "/plants/"+id).Send()
	if err != nil {
		c.Fatalf("plant %s can't be deleted: %v", id, err)
	}
	if resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotFound {
		c.Errorf("plant %s can't be deleted: %s %s", id, resp.Status, body)
	}
}

// Anything is a wanted body that matches every body.
const Anything = "anything"

// Fails expects an error with any message.
func (r Request) Fails(code int) {
	r.Helper()
	r.expect(code/100, fmt.Sprintf(`{"error":%d,`, code))
}

// Gets expects a status and a body, and reports whether the response matches.
func (r Request) Gets(status int, body string) bool {
	r.Helper()
	if body != "" && body != Anything {
		body += "\n"
	}
	return r.expect(status, body)
}

// expect is like Gets, but of an error it needs only the beginning. It repeats a list that
// may show an earlier state.
func (r Request) expect(status int, body string) bool {
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
func (r Request) link() string {
	r.Helper()
	resp, _, err := r.Send()
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
func (r Request) try(status int, want string) error {
	r.Helper()
	resp, body, err := r.Send()
	if err != nil {
		r.Fatalf("%s %s: %v", r.method, r.target, err)
	}
	matches := body == want || want == Anything || status >= 400 && strings.HasPrefix(body, want)
	if resp.StatusCode != status || !matches {
		return fmt.Errorf(" got %d %.500s\nwant %d %.500s", resp.StatusCode, body, status, want)
	}
	if want == Anything || (r.Gateway || r.SAMLocal) && status == http.StatusNoContent {
		return nil
	}
	return r.checkHeaders(resp)
}

// checkHeaders checks the headers of every response from the service.
func (r Request) checkHeaders(resp *http.Response) (err error) {
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

// Send sends the request, follows no redirect, and returns the response with its body.
func (r Request) Send() (*http.Response, string, error) {
	ctx := context.WithoutCancel(r.Context()) // cleanup functions also call Send
	req, err := http.NewRequestWithContext(ctx, r.method, r.Base+r.target, strings.NewReader(r.content))
	if err != nil {
		return nil, "", err
	}
	req.Header = r.headers
	return harness.RoundTrip(req)
}
