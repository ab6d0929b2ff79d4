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

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/openapi"
)

// A rangeStore lists the ids 1 to n.
type rangeStore struct {
	plants.Store
	n     int64
	fault error // of calls after the first page

	calls, least, most int // the number of calls, and their smallest and largest limit
}

// maxCalls is more than any test needs. It ends an endless list.
const maxCalls = 1000

func (s *rangeStore) List(ctx context.Context, _ string, after *int64, limit int) (list []plants.Plant, err error) {
	if s.calls++; s.calls > maxCalls {
		return nil, errors.New("the list doesn't end")
	}
	s.least, s.most = min(cmp.Or(s.least, limit), limit), max(s.most, limit)
	id := int64(1)
	if after != nil {
		if id = *after + 1; s.fault != nil {
			return nil, s.fault
		}
	}
	for ; id <= s.n && len(list) < limit; id++ {
		list = append(list, plants.Plant{ID: id, Name: "x"})
	}
	return list, ctx.Err()
}

// walk follows every Link, starting at target, and returns the ids of each page. It always
// ends, since each page takes at least one of [maxCalls].
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

// Clients get the pages that they request, even if a page takes several batches.
func TestPages(t *testing.T) {
	for _, test := range []struct{ n, limit int64 }{
		{0, 1}, {1, 1}, {10, 3}, {10, 5}, {10, math.MaxInt32},
		{9000, 4500}, {1000, 1000}, {1001, 1000}, {1000, 999}, {2000, 999}, {2001, 2000},
	} {
		ids := []int64{}
		for id := range test.n {
			ids = append(ids, id+1)
		}
		want := slices.Collect(slices.Chunk(ids, int(test.limit)))
		if len(ids) == 0 {
			want = [][]int64{ids} // a page without plants
		}
		store := &rangeStore{n: test.n}
		got := walk(t, newServer(t, store), fmt.Sprintf("/plants?limit=%d&include=id", test.limit))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got the pages %v, want %v", test, got, want)
		}
		if store.least < 1 || store.most > 1001 { // this limits the memory of a list
			t.Errorf("%+v: calls of the store have limits from %d to %d", test, store.least, store.most)
		}
	}
}

// A page takes no more requests to the store than it must. A page of up to 1,000 takes one, which
// also shows whether there are more plants.
func TestShortPageTakesOneRequest(t *testing.T) {
	for _, test := range []struct{ n, limit int64 }{
		{0, 1}, {1, 1}, {10, 1}, {10, 9}, {10, 10}, {1000, 1000}, {5000, 1000}, {1000, math.MaxInt32},
	} {
		store := &rangeStore{n: test.n}
		newServer(t, store).do(t.Context(), "GET", fmt.Sprint("/plants?limit=", test.limit), "")
		if store.calls != 1 {
			t.Errorf("%+v: %d requests, want 1", test, store.calls)
		}
	}
}

// If a later batch fails, the list fails.
func TestLaterBatchFails(t *testing.T) {
	s := newServer(t, &rangeStore{n: 3000, fault: plants.ErrThrottled})
	w := s.do(t.Context(), "GET", "/plants", "")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Link") != "" {
		t.Errorf("%d, Link %q, want 503 and no Link", w.Code, w.Header().Get("Link"))
	}
}

// A sliceStore lists the plants of a slice. Their ids are the indices.
type sliceStore struct {
	plants.Store
	list []plants.Plant
}

func (s sliceStore) List(_ context.Context, _ string, after *int64, limit int) ([]plants.Plant, error) {
	start := 0
	if after != nil {
		start = int(*after) + 1
	}
	list := slices.Clone(s.list[start:min(start+limit, len(s.list))])
	for i := range list {
		list[i].ID = int64(start + i)
	}
	return list, nil
}

// The size of a list is at most the document's x-max-bytes.
func TestListSize(t *testing.T) {
	const each = 200 // bytes
	for _, op := range openapi.Read().Operations {
		if op.String() == "GET /plants" && op.Responses[200].MaxBytes != maxList {
			t.Errorf("x-max-bytes of %s in api/openapi.yaml is %d, want %d", op, op.Responses[200].MaxBytes, maxList)
		}
	}
	plant := func(length int) plants.Plant {
		empty := len(encode(&plants.Plant{})) // its line break counts as the comma
		return plants.Plant{Name: strings.Repeat("a", length-empty)}
	}
	list := slices.Repeat([]plants.Plant{plant(each)}, maxList/each)
	rest := maxList - len(list)*each - len("[\n") // the bracket replaces the last comma
	last := &list[len(list)-1]
	s := newServer(t, sliceStore{list: list})

	*last = plant(each + rest)
	if w := s.do(t.Context(), "GET", "/plants", ""); w.Body.Len() != maxList || w.Header().Get("Link") != "" {
		t.Errorf("%d bytes, want %d and no Link", w.Body.Len(), maxList)
	}
	*last = plant(each + rest + 1) // one byte too many
	if w := s.do(t.Context(), "GET", "/plants", ""); w.Body.Len() != maxList-each-rest || w.Header().Get("Link") == "" {
		t.Errorf("%d bytes, want a Link in place of the last plant", w.Body.Len())
	}
}

// FuzzCursor requires each id to have exactly one cursor.
func FuzzCursor(f *testing.F) {
	good := formatCursor(1)
	for _, s := range []string{
		good, "", "A", good[:11], good + "A", good + "=", "Ag" + good[2:], "!" + good[1:],
		good[:6] + "\n" + good[6:], good[:11] + "\n", "+" + good[1:],
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
