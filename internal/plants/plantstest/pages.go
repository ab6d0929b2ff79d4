package plantstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// patience is how long a store that lags may take to settle.
var patience = 10 * time.Second

// has fails the test unless owner's plants come to be want, read by pages of
// limit that follow after.
func (s suite) has(t *testing.T, owner string, after *int64, limit int, want ...plants.Plant) {
	t.Helper()
	s.settles(t, func(ctx context.Context) error {
		got, err := s.read(ctx, owner, after, limit)
		if err != nil {
			return err
		}
		return compare(got, want)
	})
}

// settles calls check until it returns nil or patience is at its end.
func (s suite) settles(t *testing.T, check func(context.Context) error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err := check(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}

// read returns the plants that follow after, by pages of limit.
func (s suite) read(ctx context.Context, owner string, after *int64, limit int) ([]plants.Plant, error) {
	var all []plants.Plant
	for {
		page, err := s.page(ctx, owner, plants.Query{After: after, Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Plants...)
		if !page.More {
			return all, nil
		}
		after = &page.Plants[len(page.Plants)-1].ID
	}
}

// page returns one page, if it is in order and within the bounds of q.
func (s suite) page(ctx context.Context, owner string, q plants.Query) (plants.Page, error) {
	page, err := s.List(ctx, owner, q)
	if err != nil {
		return page, fmt.Errorf("List(%q, %s): %w", owner, showQuery(q), err)
	}
	fault := func(format string, args ...any) (plants.Page, error) {
		return page, fmt.Errorf("List(%q, %s): %s", owner, showQuery(q), fmt.Sprintf(format, args...))
	}
	if n := len(page.Plants); n > q.Limit {
		return fault("%d plants", n)
	}
	if page.More && len(page.Plants) == 0 {
		return fault("more is to follow, but nothing that it could follow")
	}
	last := q.After
	for _, p := range page.Plants {
		if last != nil && p.ID <= *last {
			return fault("id %d after id %d", p.ID, *last)
		}
		last = &p.ID
	}
	return page, nil
}

// compare returns an error that shows the first difference.
func compare(got, want []plants.Plant) error {
	for i := range min(len(got), len(want)) {
		if !got[i].Same(want[i]) {
			return fmt.Errorf("plant %d of the list is %s, want %s", i, show(got[i]), show(want[i]))
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("the list has %d plants, want %d", len(got), len(want))
	}
	return nil
}

// is returns an error unless err matches want, and no other error of a store.
func is(err, want error) error {
	for _, e := range []error{
		plants.ErrInUse, plants.ErrTokenReused, plants.ErrNotFound, plants.ErrThrottled, plants.ErrUnreachable,
	} {
		if want != nil && errors.Is(err, e) != errors.Is(want, e) {
			return fmt.Errorf("error %v, want %v", err, want)
		}
	}
	if !errors.Is(err, want) {
		return fmt.Errorf("error %v, want %v", err, want)
	}
	return nil
}

// randomOwner returns an owner that nobody else has.
func randomOwner() string { return "plantstest-" + strconv.FormatUint(rand.Uint64(), 36) }

// randomID returns an id that nobody else has, with room above and below, and
// of either sign.
func randomID() int64 {
	const room = 1 << 20
	id := room + rand.Int64N(1<<63-1-2*room)
	if rand.N(2) == 0 {
		return -id
	}
	return id
}

// randomPlants returns n plants in ascending order of their random ids.
func randomPlants(n int) []plants.Plant {
	all := make([]plants.Plant, n)
	for i := range all {
		all[i] = randomPlant()
	}
	slices.SortFunc(all, func(a, b plants.Plant) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}

func randomPlant() plants.Plant {
	tag := "tag " + strconv.Itoa(rand.N(1000))
	return plants.Plant{ID: randomID(), Name: "name " + strconv.Itoa(rand.N(1000)), Tag: &tag}
}

func show(p plants.Plant) string {
	if p.Tag == nil {
		return fmt.Sprintf("{%d %s no tag}", p.ID, quote(p.Name))
	}
	return fmt.Sprintf("{%d %s %s}", p.ID, quote(p.Name), quote(*p.Tag))
}

func showQuery(q plants.Query) string {
	if q.After == nil {
		return fmt.Sprintf("limit %d", q.Limit)
	}
	return fmt.Sprintf("limit %d after %d", q.Limit, *q.After)
}

// quote shows every byte of s, but of a long s only the beginning.
func quote(s string) string {
	const most = 40
	if len(s) <= most {
		return strconv.QuoteToASCII(s)
	}
	return strconv.QuoteToASCII(strings.ToValidUTF8(s[:most], "")) + "…"
}
