package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cryptorand "crypto/rand"
)

// A plant is a plant in a request or an answer.
type plant struct {
	ID   *int64  `json:"id,omitempty"`
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

func bearer(token string) []string { return []string{"Authorization: Bearer " + token} }

// newUser returns the token of a user without plants. The user's plants are
// removed when the test ends.
func newUser(t *testing.T, c *client) string {
	subject := newSubject()
	if c.Subjects != nil {
		subject = c.Subjects[0]
	}
	token := c.Token(t, TokenRequest{Subject: subject})
	t.Cleanup(func() {
		if err := deleteAll(t, c, token); err != nil {
			t.Errorf("plants could not be removed: %v", err)
		}
	})
	return token
}

// newSubject returns the subject of a new user.
func newSubject() string { return "user-" + cryptorand.Text() }

func create(t *testing.T, c *client, token string, p plant) (answer, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return answer{}, err
	}
	return c.send(t, request{"POST", "/plants", bearer(token), body})
}

// createAll creates the plants, several at a time.
func createAll(t *testing.T, c *client, token string, plants ...plant) {
	t.Helper()
	err := parallel(plants, func(p plant) error {
		a, err := create(t, c, token, p)
		return want(a, err, 200)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, c *client, token string, id int64) (answer, error) {
	return c.send(t, request{method: "DELETE", target: "/plants/" + strconv.FormatInt(id, 10), headers: bearer(token)})
}

// deleteAll deletes the plants of the token's user. If parts of the suite share
// users, it waits until a plant would have appeared in a list that lags.
func deleteAll(t *testing.T, c *client, token string) error {
	for round, empty := 0, 0; empty < 5; round++ {
		plants, _, err := walk(t, c, token, "include=id")
		if err == nil {
			err = parallel(plants, func(p plant) error {
				a, err := remove(t, c, token, *p.ID)
				return want(a, err, 204, 404) // 404: the list was out of date
			})
		}
		switch {
		case err != nil || c.Subjects == nil:
			return err
		case round == 100:
			return errors.New("deleted plants are still listed")
		case len(plants) > 0:
			empty = 0
		default:
			empty++
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// parallel calls f for each value, with up to 16 calls at a time.
func parallel[T any](values []T, f func(T) error) error {
	errs := make([]error, 16)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for n := i; n < len(values); n += len(errs) {
				errs[i] = errors.Join(errs[i], f(values[n]))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

var nextLink = regexp.MustCompile(`^<([^>]*)>; rel="next"$`)

// walk returns the plants of a list, and the sizes of its pages in bytes. It
// follows the Link headers.
func walk(t *testing.T, c *client, token, query string) (all []plant, sizes []int, err error) {
	for here := (&url.URL{Path: "/plants", RawQuery: query}); ; {
		a, err := c.send(t, request{method: "GET", target: here.String(), headers: bearer(token)})
		if err = want(a, err, 200); err != nil {
			return nil, nil, err
		}
		var plants []plant
		if err := json.Unmarshal(a.body, &plants); err != nil {
			return nil, nil, err
		}
		all, sizes = append(all, plants...), append(sizes, len(a.body))
		next := nextLink.FindStringSubmatch(a.header.Get("Link"))
		if next == nil {
			return all, sizes, nil
		}
		if here, err = here.Parse(next[1]); err != nil {
			return nil, nil, err
		}
	}
}

// expectPlants checks that a list contains exactly these plants in this order.
func expectPlants(t *testing.T, c *client, token string, plants ...plant) {
	t.Helper()
	err := retry(c.Lag, func() error {
		got, _, err := walk(t, c, token, "include=id")
		if err == nil && !slices.EqualFunc(got, plants, func(a, b plant) bool { return *a.ID == *b.ID && a.Name == b.Name }) {
			err = fmt.Errorf("the list has %d plants that are not the %d expected ones in their order", len(got), len(plants))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// longList checks that a list without a limit ends before it is too large, and
// continues exactly where it ended.
func longList(t *testing.T, c *client) {
	const maxBody = 512 << 10 // bytes
	token := newUser(t, c)
	widest := strings.Repeat("\x01", 256) // JSON encodes a control character in six bytes
	plants := make([]plant, 300)
	first := randomID()
	for i := range plants {
		id := first + int64(i)*1e6
		plants[i] = plant{&id, widest, &widest}
	}
	createAll(t, c, token, plants...)
	expectPlants(t, c, token, plants...)
	all, sizes, err := walk(t, c, token, "")
	if err != nil || len(all) != len(plants) || len(sizes) != 2 || sizes[0] > maxBody || sizes[0] < maxBody-4000 {
		t.Errorf("%d plants on pages of %d bytes, want %d on two pages, the first just under %d bytes: %v",
			len(all), sizes, len(plants), maxBody, err)
	}
}
