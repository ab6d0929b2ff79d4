package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/testing/openapi"
)

// A rangeStore lists the ids 1 to n, of plants with this name. It records the limits of its calls.
type rangeStore struct {
	plants.Store
	n      int64
	name   string
	limits []int
}

// maxCalls is more than any test needs. It ends an endless list.
const maxCalls = 1000

func (s *rangeStore) List(ctx context.Context, _ string, after *int64, limit int) (
	page []plants.Plant, more bool, err error,
) {
	if s.limits = append(s.limits, limit); len(s.limits) > maxCalls {
		return nil, false, errors.New("the list doesn't end")
	}
	id := int64(1)
	if after != nil {
		id = *after + 1
	}
	for ; id <= s.n && len(page) < limit; id++ {
		page = append(page, plants.Plant{ID: id, Name: s.name})
	}
	return page, id <= s.n, ctx.Err()
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

// Clients get the pages that they request. Each page takes one call of the store, with the same
// limit, so it costs no more than its own plants.
func TestPages(t *testing.T) {
	for _, test := range []struct{ n, limit int64 }{
		{0, 1}, {1, 1}, {10, 3}, {10, 5}, {10, math.MaxInt32}, {9000, 4500}, {1001, 1000},
	} {
		ids := []int64{}
		for id := range test.n {
			ids = append(ids, id+1)
		}
		want := slices.Collect(slices.Chunk(ids, int(test.limit)))
		if len(ids) == 0 {
			want = [][]int64{ids} // a page without plants
		}
		store := &rangeStore{n: test.n, name: "x"}
		got := walk(t, newServer(t, store), fmt.Sprintf("/plants?limit=%d&include=id", test.limit))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got the pages %v, want %v", test, got, want)
		}
		if !slices.Equal(store.limits, slices.Repeat([]int{int(test.limit)}, len(want))) {
			t.Errorf("%+v: the calls of the store have the limits %v", test, store.limits)
		}
	}
	store := &rangeStore{n: 10, name: "x"}
	walk(t, newServer(t, store), "/plants?include=id")
	if !slices.Equal(store.limits, []int{math.MaxInt32}) {
		t.Errorf("without limit: the calls of the store have the limits %v", store.limits)
	}
}

// The limits of bodies in the OpenAPI document are those of the service.
func TestMaxBytes(t *testing.T) {
	for _, op := range openapi.Read().Operations {
		if op.String() == "GET /plants" && op.Responses[200].MaxBytes != maxList {
			t.Errorf("x-max-bytes of %s in api/openapi.yaml is %d, want %d", op, op.Responses[200].MaxBytes, maxList)
		}
		if op.String() == "POST /plants" && op.RequestBody.MaxBytes != maxBody {
			t.Errorf("x-max-bytes of %s in api/openapi.yaml is %d, want %d", op, op.RequestBody.MaxBytes, maxBody)
		}
	}
}

// Lambda can return every page, even if it is full of characters that JSON escapes.
func TestListSize(t *testing.T) {
	const n = 2750 // 4.3 MB of JSON: even half of them are too many
	store := &rangeStore{n: n, name: strings.Repeat("\x01", 256)}
	s := newServer(t, store)
	if w := s.do(t.Context(), "GET", "/plants", ""); w.Code != 200 || w.Body.Len() > maxList || w.Body.Len() < maxList/4 {
		t.Errorf("%d with %d bytes, want %d to %d", w.Code, w.Body.Len(), maxList/4, maxList)
	}
	ids := slices.Concat(walk(t, s, "/plants?include=id")...)
	if len(ids) != n || !slices.IsSorted(ids) || len(slices.Compact(ids)) != n {
		t.Errorf("all pages together have %d plants, want each of %d once", len(ids), n)
	}
}

// The document has the query parameters that a list reads, and no others.
func TestDocumentedParameters(t *testing.T) {
	var read []string
	for _, p := range listParameters {
		read = append(read, p.name)
	}
	for _, op := range openapi.Read().Operations {
		var documented []string
		for _, p := range op.Parameters {
			if p.In == "query" {
				documented = append(documented, p.Name)
			}
		}
		if isList := op.Method == "GET" && !strings.Contains(op.Path, "{"); isList && !slices.Equal(documented, read) {
			t.Errorf("%s has the query parameters %v in api/openapi.yaml, and %v in internal/handlers/query.go",
				op, documented, read)
		}
	}
}
