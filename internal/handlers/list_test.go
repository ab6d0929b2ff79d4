package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// A pagedStore lists the ids 1 to n in pages of its own size, and records the
// queries.
type pagedStore struct {
	plants.Store
	n, page int64
	every   int64 // of so many ids, only the last is a plant; 0 means 1
	name    string
	queries []plants.Query
}

func (s *pagedStore) List(_ context.Context, _ string, q plants.Query) (page plants.Page, err error) {
	s.queries = append(s.queries, q)
	id := int64(1)
	if q.After != nil {
		id = *q.After + 1
	}
	end := min(s.n+1, id+min(s.page, int64(q.Limit)))
	for ; id < end; id++ {
		if id%max(s.every, 1) == 0 {
			page.Plants = append(page.Plants, plants.Plant{ID: id, Name: s.name})
		}
	}
	if id <= s.n {
		page.Next = new(id - 1)
	}
	return page, nil
}

// walk follows every Link, starting at path, and returns the ids of each page.
func walk(t *testing.T, s *server, path string) (pages [][]int64) {
	t.Helper()
	for {
		a := s.do(t, "GET", path, "")
		if a.status != 200 {
			t.Fatalf("GET %s: %d %s", path, a.status, a.body)
		}
		var elements []struct{ ID int64 }
		if err := json.Unmarshal([]byte(a.body), &elements); err != nil {
			t.Fatalf("GET %s: %v", path, err)
		}
		ids := []int64{}
		for _, e := range elements {
			ids = append(ids, e.ID)
		}
		pages = append(pages, ids)
		link := a.header.Get("Link")
		if link == "" {
			return pages
		}
		query, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok {
			t.Fatalf("Link is %q", link)
		}
		path = "/plants" + query
	}
}

// Clients get the pages that they request, whatever pages the store returns.
func TestPages(t *testing.T) {
	for _, test := range []struct{ n, limit, storePage, want int64 }{
		{0, 1, 10, 1}, {1, 1, 10, 1}, {10, 3, 10, 4}, {10, 5, 1, 2}, {10, 3, 2, 4}, {10, math.MaxInt32, 3, 1},
		{9000, 4500, 100000, 2}, {4096, 4096, 100000, 1}, {4097, 4096, 100000, 2},
	} {
		t.Run(fmt.Sprintf("%d by %d from %d", test.n, test.limit, test.storePage), func(t *testing.T) {
			store := &pagedStore{n: test.n, page: test.storePage, name: "Basil"}
			pages := walk(t, newServer(t, store), fmt.Sprintf("/plants?limit=%d&include=id", test.limit))
			var all []int64
			for i, ids := range pages {
				if i < len(pages)-1 && int64(len(ids)) != test.limit {
					t.Errorf("page %d has %d plants, want %d", i, len(ids), test.limit)
				}
				all = append(all, ids...)
			}
			if int64(len(pages)) != test.want || int64(len(all)) != test.n || !slices.IsSorted(all) {
				t.Errorf("got %d plants on %d pages, want %d on %d", len(all), len(pages), test.n, test.want)
			}
			for _, q := range store.queries {
				if q.Limit < 1 || q.Limit > listBatch {
					t.Errorf("the limit of a query to the store is %d", q.Limit)
				}
			}
		})
	}
}

// Pages of the store may be sparse, or empty.
func TestSparsePages(t *testing.T) {
	store := &pagedStore{n: 100, page: 3, every: 7, name: "Basil"}
	pages := walk(t, newServer(t, store), "/plants?limit=5&include=id")
	if ids := slices.Concat(pages...); len(ids) != 14 || len(pages) != 3 || ids[13] != 98 || !slices.IsSorted(ids) {
		t.Errorf("got %v, want the 14 multiples of 7 on 3 pages", pages)
	}
}

// A list ends early if time is short, even before its first plant: its Link goes on
// where the store stopped.
func TestListEndsInTime(t *testing.T) {
	for _, test := range []struct {
		every int64
		left  time.Duration
		body  string
		link  bool
	}{
		{1, listReserve - time.Second, `[{"name":"Basil"}]`, true},
		{2, listReserve - time.Second, `[]`, true},
		{1, time.Minute, `[{"name":"Basil"},{"name":"Basil"}]`, false},
	} {
		service := &Service{store: &pagedStore{n: 2, page: 1, every: test.every, name: "Basil"}}
		ctx, cancel := context.WithTimeout(t.Context(), test.left)
		defer cancel()
		resp, err := service.readList(ctx, "alice", listQuery{})
		if err != nil || string(resp.body) != test.body+"\n" || (resp.link != "") != test.link {
			t.Errorf("%+v: %q, Link %q, %v", test, resp.body, resp.link, err)
		}
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
