package handlers

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants"
)

// A list may have exactly 512 KiB, as in docs/interface.md.
func TestListSizes(t *testing.T) {
	const limit = 524288
	list := slices.Repeat([]plants.Plant{{Name: strings.Repeat("a", 188)}}, 2_600) // 200 bytes each
	rest := limit - 2_600*200 - len("[\n")                                         // the bracket replaces the last comma
	list = append(list, plants.Plant{Name: strings.Repeat("a", rest-len(`{"name":""},`))})
	last := &list[len(list)-1]
	for _, wantLink := range []bool{false, true} {
		store := &nullStore{page: plants.Page{Plants: list}}
		resp, err := (&Service{store: store}).readList(t.Context(), "alice", listQuery{})
		if err != nil || (resp.link != "") != wantLink || (len(resp.body) == limit) == wantLink || len(resp.body) > limit {
			t.Errorf("%d bytes, Link %q, %v, want a Link: %t", len(resp.body), resp.link, err, wantLink)
		}
		last.Name += "a" // one byte too many
	}
}

// The time of a request ends with its context, and leaves some of the function's
// for the response. A list that has started another batch has time for two
// attempts to read it, of a second each (internal/dynamo).
func TestTimeLimits(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	timeout := regexp.MustCompile(`\n      Timeout: ([0-9]+)\n`).FindSubmatch(template) // the function's
	if timeout == nil {
		t.Fatalf("no Timeout in template.yaml: %v", err)
	}
	functionTimeout, err := time.ParseDuration(string(timeout[1]) + "s")
	if err != nil {
		t.Fatal(err)
	}
	var deadline, limit time.Time
	var left time.Duration
	s := newServer(t, faultyStore{fail: func(ctx context.Context) error {
		deadline, _ = ctx.Deadline()
		left = time.Until(deadline)
		return plants.ErrNotFound
	}})
	s.do(t, "GET", "/plants", "")
	if left > functionTimeout-250*time.Millisecond || left < functionTimeout/2 {
		t.Errorf("a request may take %v; the function has %v", left, functionTimeout)
	}
	service := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		limit, _ = ctx.Deadline()
		service.ServeHTTP(w, r.WithContext(ctx))
	})
	s.do(t, "GET", "/plants", "")
	if deadline != limit {
		t.Errorf("a request may take %v longer than its context", deadline.Sub(limit))
	}
	if listReserve < 2*time.Second || listReserve > functionTimeout/2 {
		t.Errorf("listReserve is %v", listReserve)
	}
}
