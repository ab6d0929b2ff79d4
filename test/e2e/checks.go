package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
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

// A plant as requests and answers have it.
type plant struct {
	ID   *int64  `json:"id,omitempty"`
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

func bearer(token string) []string { return []string{"Authorization: Bearer " + token} }

// newUser returns the token of a user without plants, whose plants are removed
// in the end.
func newUser(t *testing.T, c *client) string {
	token := c.Token(t, TokenRequest{Subject: "user-" + cryptorand.Text()})
	t.Cleanup(func() {
		if err := deleteAll(t, c, token); err != nil {
			t.Errorf("plants could not be removed: %v", err)
		}
	})
	return token
}

func create(t *testing.T, c *client, token string, p plant) (answer, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return answer{}, err
	}
	return c.send(t, request{"POST", "/plants", bearer(token), body})
}

// parallel calls f for each value, for several at once.
func parallel[T any](values iter.Seq[T], f func(T) error) error {
	queue, errs := make(chan T), make([]error, 16)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for value := range queue {
				errs[i] = errors.Join(errs[i], f(value))
			}
		})
	}
	for value := range values {
		queue <- value
	}
	close(queue)
	group.Wait()
	return errors.Join(errs...)
}

// createAll creates the plants.
func createAll(t *testing.T, c *client, token string, plants []plant) {
	t.Helper()
	err := parallel(slices.Values(plants), func(p plant) error {
		a, err := create(t, c, token, p)
		if err == nil && a.status != 200 {
			err = errors.New(a.String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var nextLink = regexp.MustCompile(`^<([^>]*)>; rel="next"$`)

// pages asks for a list and for what its Link headers lead to.
func pages(t *testing.T, c *client, token, query string) iter.Seq2[answer, error] {
	return func(yield func(answer, error) bool) {
		here, err := url.Parse("/plants" + query)
		for err == nil {
			var a answer
			if a, err = c.send(t, request{method: "GET", target: here.String(), headers: bearer(token)}); err != nil {
				break
			}
			if a.status != 200 {
				err = errors.New(a.String())
				break
			}
			if !yield(a, nil) {
				return
			}
			link := a.header.Get("Link")
			if link == "" {
				return
			}
			next := nextLink.FindStringSubmatch(link)
			if next == nil {
				err = fmt.Errorf("the header Link is %q", link)
				break
			}
			here, err = here.Parse(next[1])
		}
		yield(answer{}, err)
	}
}

// walk returns the plants of a list and of all that follows it.
func walk(t *testing.T, c *client, token, query string) (all []plant, err error) {
	for page, err := range pages(t, c, token, query) {
		if err != nil {
			return nil, err
		}
		var plants []plant
		if err := json.Unmarshal(page.body, &plants); err != nil {
			return nil, err
		}
		all = append(all, plants...)
	}
	return all, nil
}

// eventually repeats f while it returns an error, as long as a list may lag.
func eventually(t *testing.T, c *client, f func() error) {
	t.Helper()
	deadline := time.Now().Add(c.Lag)
	err := f()
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		err = f()
	}
	if err != nil {
		t.Error(err)
	}
}

// Of many who want an id at once, one gets it, and the others are told.
func concurrentCreates(t *testing.T, c *client) {
	token, id := newUser(t, c), randomID()
	names := make([]string, 50)
	var mu sync.Mutex
	var winners []string
	for i := range names {
		names[i] = "plant " + strconv.Itoa(i)
	}
	var group sync.WaitGroup
	for _, name := range names {
		group.Go(func() {
			a, err := create(t, c, token, plant{ID: &id, Name: name})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case a.status == 200:
				winners = append(winners, name)
			case !strings.Contains(string(a.body), `"error":40003,`):
				t.Errorf("the loser was told\n%s", a)
			}
		})
	}
	group.Wait()
	if len(winners) != 1 {
		t.Fatalf("%q have all got the id", winners)
	}
	eventually(t, c, func() error {
		list, err := walk(t, c, token, "")
		if err == nil && (len(list) != 1 || list[0].Name != winners[0]) {
			err = fmt.Errorf("the list is %v, but %s won", list, winners[0])
		}
		return err
	})
}

// A list without limit ends before it is too large, and goes on exactly where
// it ended.
func longList(t *testing.T, c *client) {
	const maxBody = 5 << 19 // bytes: 2.5 MiB
	token := newUser(t, c)
	// In JSON a control character takes six bytes.
	widest := strings.Repeat("\x01", 256)
	plants := make([]plant, 1000)
	first := randomID()
	for i := range plants {
		id := first + int64(i)*1e6
		plants[i] = plant{&id, widest, &widest}
	}
	createAll(t, c, token, plants)
	for _, query := range []string{"", "?limit=2147483647", "?include=id"} {
		eventually(t, c, func() error {
			total, sizes := 0, []int{}
			for page, err := range pages(t, c, token, query) {
				if err != nil {
					return err
				}
				total += strings.Count(string(page.body), "{")
				sizes = append(sizes, len(page.body))
			}
			if total != len(plants) || len(sizes) != 2 || sizes[0] > maxBody || sizes[0] < maxBody-4000 {
				return fmt.Errorf("%s: %d plants in pages of %d bytes, want %d in two pages, the first nearly %d bytes long",
					query, total, sizes, len(plants), maxBody)
			}
			return nil
		})
	}
	eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id", plants) })
}

// Pages of any size give all plants, each once, by id.
func randomOrder(t *testing.T, c *client) {
	token := newUser(t, c)
	plants := make([]plant, 40)
	for i := range plants {
		id := int64(rand.Uint64()) // of both signs and of all lengths
		id >>= rand.IntN(20)
		plants[i] = plant{ID: &id, Name: strconv.FormatInt(id, 10)}
	}
	createAll(t, c, token, plants)
	slices.SortFunc(plants, func(a, b plant) int {
		if *a.ID < *b.ID {
			return -1
		}
		return 1
	})
	for _, limit := range []string{"1", "2", "3", "7", "39", "40", "41"} {
		eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id&limit="+limit, plants) })
	}
}

// compareIDs checks that a walk meets exactly these plants, in this order.
func compareIDs(t *testing.T, c *client, token, query string, plants []plant) error {
	got, err := walk(t, c, token, query)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, plants, func(a, b plant) bool { return *a.ID == *b.ID && a.Name == b.Name }) {
		return fmt.Errorf("%s: %d plants of which some are missing, too many, changed or out of order; want %d", query, len(got), len(plants))
	}
	return nil
}
