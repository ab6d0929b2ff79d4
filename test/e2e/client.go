package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// A Target is a running service.
type Target struct {
	Base string        // without a slash at the end
	Lag  time.Duration // how long a list may show an earlier state
}

// dynamoLag is the longest lag of the index that lists read.
const dynamoLag = 5 * time.Second

// A request is sent exactly as given.
type request struct {
	Method, Target, Body string
	Header               []string // names and values
}

type answer struct {
	sent   request
	status int // 0 if there was no answer
	header http.Header
	body   string
}

// A client sends requests to a target. It is safe for concurrent use.
type client struct {
	Target
	token string
}

func newClient(target Target, token string) *client { return &client{Target: target, token: token} }

// as returns a client with another token.
func (c *client) as(token string) *client { return newClient(c.Target, token) }

// send sends r and returns the answer. It returns an error unless the status is one of
// those wanted.
func (c *client) send(tb testing.TB, r request, wanted ...int) (a answer, err error) {
	a.sent = r
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, a)
		}
	}()
	req, err := http.NewRequestWithContext(tb.Context(), r.Method, c.Base+r.Target, strings.NewReader(r.Body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i < len(r.Header); i += 2 {
		req.Header.Add(r.Header[i], r.Header[i+1])
	}
	resp, body, err := harness.RoundTrip(req)
	if err != nil {
		return a, err
	}
	a.status, a.header, a.body = resp.StatusCode, resp.Header, body
	if slices.Contains(wanted, a.status) {
		return a, nil
	}
	return a, fmt.Errorf("want status %d", wanted)
}

// jwt matches tokens, which are printed in part only.
var jwt = regexp.MustCompile(`(eyJ[\w-]{8})[\w.-]+`)

// String returns the request and its answer, with a long body truncated.
func (a answer) String() string {
	sent := fmt.Sprintf("> %s %s\n> %q\n> %.2000s", a.sent.Method, a.sent.Target, a.sent.Header, a.sent.Body)
	return fmt.Sprintf("%s\n< %d\n< %q\n< %.2000s", jwt.ReplaceAllString(sent, "$1…"), a.status, a.header, a.body)
}

// expectList checks the status of the answer to a list.
func (c *client) expectList(t *testing.T, status int) {
	t.Helper()
	if _, err := c.send(t, request{Method: "GET", Target: "/plants"}, status); err != nil {
		t.Error(err)
	}
}

// newSubject returns the subject of a new user.
func newSubject() string { return "user-" + cryptorand.Text() }

// randomID returns an id of 18 digits. It and the ids after it are unlikely to be
// in use.
func randomID() int64 { return 1e17 + rand.Int64N(8e17) }

// newPlant returns the example plant with a random id.
func newPlant() plants.Plant { return plantstest.Example(randomID()) }

// post sends a create.
func (c *client) post(t *testing.T, p plants.Plant, wanted ...int) (answer, error) {
	return c.send(t, request{Method: "POST", Target: "/plants", Body: plantstest.CreateJSON(p)}, wanted...)
}

// create creates a plant, or ends the test.
func (c *client) create(t *testing.T, p plants.Plant) {
	t.Helper()
	if _, err := c.post(t, p, 200); err != nil {
		t.Fatal(err)
	}
}

// remove sends a delete.
func (c *client) remove(t *testing.T, id int64, wanted ...int) (answer, error) {
	return c.send(t, request{Method: "DELETE", Target: fmt.Sprint("/plants/", id)}, wanted...)
}

// walk returns the plants of all pages of a list.
func (c *client) walk(t *testing.T) (all []plants.Plant, err error) {
	end := time.Now().Add(harness.Patience)
	for next := "?include=id"; next != ""; {
		if time.Now().After(end) {
			return nil, fmt.Errorf("the list doesn't end: its pages have %d plants, and Link leads to another", len(all))
		}
		a, err := c.send(t, request{Method: "GET", Target: "/plants" + next}, 200)
		if err != nil {
			return nil, err
		}
		var page []struct {
			ID int64 `json:"id"` // which the tags of a Plant leave out
			plants.Plant
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil {
			return nil, err
		}
		for _, element := range page {
			element.Plant.ID = element.ID
			all = append(all, element.Plant)
		}
		next = strings.TrimSuffix(strings.TrimPrefix(a.header.Get("Link"), "<"), `>; rel="next"`)
	}
	return all, nil
}

// expect checks that a list has exactly these plants in this order, until the lag is over.
func (c *client) expect(t *testing.T, want ...plants.Plant) {
	t.Helper()
	for end := time.Now().Add(c.Lag); ; time.Sleep(50 * time.Millisecond) {
		got, err := c.walk(t)
		if err == nil && !slices.EqualFunc(got, want, plants.Plant.Equal) {
			err = fmt.Errorf("the list has %d plants that are not the %d expected ones in their order", len(got), len(want))
		}
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}
