package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
)

// A pagedStore lists the ids 1 to n in pages of its own size.
type pagedStore struct {
	records.Store[plants.Plant]
	n, page int64
	every   int64 // of so many ids, only the last is a plant
	hangs   bool  // when a query has an After
	fault   error // of such queries

	least, most int // limits of the queries
	queries     int
}

// maxQueries is more than any test needs. It ends a list that never would, also where a
// clock that stands still can't: within synctest.
const maxQueries = 1000

func (s *pagedStore) List(ctx context.Context, _ string, q records.Query) (page records.Page[plants.Plant], err error) {
	if s.queries++; s.queries > maxQueries {
		return page, errors.New("the list doesn't end")
	}
	s.least, s.most = min(cmp.Or(s.least, q.Limit), q.Limit), max(s.most, q.Limit)
	id := int64(1)
	if q.After != nil {
		id = *q.After + 1
	}
	if s.hangs && q.After != nil {
		<-ctx.Done()
		return page, ctx.Err()
	}
	if s.fault != nil && q.After != nil {
		return page, s.fault
	}
	if ctx.Err() != nil {
		return page, ctx.Err()
	}
	end := min(s.n+1, id+min(s.page, int64(q.Limit)))
	for ; id < end; id++ {
		if id%s.every == 0 {
			page.Records = append(page.Records, records.Record[plants.Plant]{ID: id, Fields: plants.Plant{Name: "x"}})
		}
	}
	if id <= s.n {
		page.Next = new(id - 1)
	}
	return page, nil
}

// walk follows every Link, starting at target, and returns the ids of each page. It ends,
// since each page takes a query at least: see [maxQueries].
func walk(t *testing.T, s *server, target string) (pages [][]int64) {
	t.Helper()
	for {
		w := s.do(t.Context(), "GET", target, "")
		var elements []struct{ ID int64 }
		if err := json.Unmarshal(w.Body.Bytes(), &elements); err != nil {
			t.Fatalf("GET %s: %d %s", target, w.Code, w.Body)
		}
		ids := []int64{}
		for _, e := range elements {
			ids = append(ids, e.ID)
		}
		pages = append(pages, ids)
		link := w.Header().Get("Link")
		if link == "" {
			return pages
		}
		query, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok {
			t.Fatalf("Link is %q", link)
		}
		target = "/plants" + query
	}
}

// Clients get the pages that they request, whatever pages the store returns, even if
// these have few plants or none.
func TestPages(t *testing.T) {
	for _, test := range []struct{ n, limit, storePage, every int64 }{
		{0, 1, 10, 1}, {1, 1, 10, 1}, {10, 3, 10, 1}, {10, 5, 1, 1}, {10, 3, 2, 1}, {10, math.MaxInt32, 3, 1},
		{9000, 4500, 100000, 1}, {4096, 4096, 100000, 1}, {4097, 4096, 100000, 1},
		{65, 4, 1, 7}, {65, 4, 3, 7}, {65, 4, 7, 7}, {65, 4, 100, 7},
	} {
		ids := []int64{}
		for id := test.every; id <= test.n; id += test.every {
			ids = append(ids, id)
		}
		want := slices.Collect(slices.Chunk(ids, int(test.limit)))
		if len(ids) == 0 {
			want = [][]int64{ids} // a page without plants
		}
		store := &pagedStore{n: test.n, page: test.storePage, every: test.every}
		if got := walk(t, newServer(t, store), fmt.Sprintf("/plants?limit=%d&include=id", test.limit)); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got the pages %v, want %v", test, got, want)
		}
		if store.least < 1 || store.most > 4096 { // which bounds the memory of a list
			t.Errorf("%+v: queries to the store have limits from %d to %d", test, store.least, store.most)
		}
	}
}

// A list has at most maxList bytes, to the byte.
func TestListSize(t *testing.T) {
	const each = 200 // bytes
	name := func(length int) plants.Plant {
		return plants.Plant{Name: strings.Repeat("a", length-len(encode(plants.Plant{})))} // its line break counts as the comma
	}
	list := slices.Repeat([]records.Record[plants.Plant]{{Fields: name(each)}}, maxList/each)
	rest := maxList - len(list)*each - len("[\n") // the bracket replaces the last comma
	last := &list[len(list)-1].Fields
	s := newServer(t, &nullStore{page: records.Page[plants.Plant]{Records: list}})

	*last = name(each + rest)
	if w := s.do(t.Context(), "GET", "/plants", ""); w.Body.Len() != maxList || w.Header().Get("Link") != "" {
		t.Errorf("%d bytes, want %d and no Link", w.Body.Len(), maxList)
	}
	*last = name(each + rest + 1) // one byte too many
	if w := s.do(t.Context(), "GET", "/plants", ""); w.Body.Len() != maxList-each-rest || w.Header().Get("Link") == "" {
		t.Errorf("%d bytes, want a Link in place of the last plant", w.Body.Len())
	}
}

// With at most 2 s left of its context, a list ends, even before its first plant or
// while the store hangs: its Link goes on where the store stopped.
func TestTimeLimits(t *testing.T) {
	one := "[" + strings.TrimSpace(string(encode(plants.Plant{Name: "x"}))) + "]"
	all := strings.TrimSuffix(one, "]") + "," + strings.TrimPrefix(one, "[")
	for _, test := range []struct {
		limit      time.Duration
		every      int64
		hangs      bool
		body, next string
	}{
		{2001 * time.Millisecond, 1, false, all, ""},
		{2 * time.Second, 1, false, one, "cursor=" + formatCursor(1)},
		{2 * time.Second, 2, false, `[]`, "cursor=" + formatCursor(1)},
		{10 * time.Second, 1, true, one, "cursor=" + formatCursor(1)},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.limit)
			defer cancel()
			start, store := time.Now(), &pagedStore{n: 2, page: 1, every: test.every, hangs: test.hangs}
			w := newServer(t, store).do(ctx, "GET", "/plants", "")
			link := w.Header().Get("Link")
			if w.Body.String() != test.body+"\n" || (link == "") != (test.next == "") || !strings.Contains(link, test.next) {
				t.Errorf("with %v: Link %q, %s", test.limit, link, w.Body)
			}
			if took := time.Since(start); test.hangs && took != test.limit-2*time.Second {
				t.Errorf("with %v: it took %v", test.limit, took)
			}
		})
	}
}

// If a batch after the first hangs or fails, the list ends before it, with a Link that
// goes on there. The log has one warning with the cause.
func TestLaterBatches(t *testing.T) {
	for _, test := range []struct {
		hangs bool
		fault error
		cause string
	}{
		{true, nil, context.DeadlineExceeded.Error()},
		{false, records.ErrThrottled, records.ErrThrottled.Error()},
		{false, records.ErrUnreachable, records.ErrUnreachable.Error()},
		{false, errors.New("internal"), "internal"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			s := newServer(t, &pagedStore{n: 3, page: 2, every: 1, hangs: test.hangs, fault: test.fault})
			w := s.do(ctx, "GET", "/plants?limit=3&include=id", "")
			x := plants.Plant{Name: "x"}
			want := string(encode([]records.Record[plants.Plant]{{ID: 1, Fields: x}, {ID: 2, Fields: x}}))
			link := "<?limit=3&cursor=" + formatCursor(2) + `&include=id>; rel="next"`
			if w.Code != http.StatusOK || w.Body.String() != want || w.Header().Get("Link") != link {
				t.Errorf("%s: %d, Link %q, %s", test.cause, w.Code, w.Header().Get("Link"), w.Body)
			}
			log := s.log.String()
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, `"cause":"`+test.cause+`"`) {
				t.Errorf("%s: want one warning with the cause in the log:\n%s", test.cause, log)
			}
		})
	}
}

// FuzzCursor requires each id to have exactly one cursor.
func FuzzCursor(f *testing.F) {
	good := formatCursor(1)
	for _, s := range []string{
		good, "", "A", good[:11], good + "A", good + "=", "Ag" + good[2:], "!" + good[1:], good[:6] + "\n" + good[6:], good[:11] + "\n", "+" + good[1:],
	} {
		f.Add(int64(math.MinInt64), s)
		f.Add(int64(math.MaxInt64), s)
	}
	f.Fuzz(func(t *testing.T, id int64, s string) {
		c := formatCursor(id)
		if got, ok := parseCursor(c); !ok || got != id {
			t.Errorf("parseCursor(%q) = %d, %t, want %d", c, got, ok, id)
		}
		if id, ok := parseCursor(s); ok && formatCursor(id) != s {
			t.Errorf("parseCursor(%q) = %d, whose cursor is %q", s, id, formatCursor(id))
		}
	})
}
