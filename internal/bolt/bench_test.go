package bolt

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
)

// BenchmarkListPage lists a page of 100 plants of an owner with 1,000 or 1,000,000 plants,
// from the start and from anywhere.
func BenchmarkListPage(b *testing.B) {
	s := openTest(b, newPath(b))
	for _, n := range []int64{1_000, 1_000_000} {
		owner := fmt.Sprint(n)
		for first := n; first < 2*n; first += min(n, 100_000) { // transactions are held in memory
			load(b, s, owner, first, int(min(n, 100_000)))
		}
		for _, start := range []string{"first", "anywhere"} {
			b.Run(fmt.Sprintf("of=%d/start=%s", n, start), func(b *testing.B) {
				for b.Loop() {
					var after *int64
					if start == "anywhere" {
						after = new(n + rand.Int64N(n-101))
					}
					if list, _, err := s.List(b.Context(), owner, after, 100); err != nil || len(list) != 100 {
						b.Fatalf("%d plants, %v", len(list), err)
					}
				}
			})
		}
	}
}

// BenchmarkCreate measures durable creates by 1 goroutine, and by 64, which share commits.
func BenchmarkCreate(b *testing.B) {
	s := openTest(b, newPath(b))
	var id atomic.Int64
	create := func() {
		if err := s.Create(b.Context(), "alice", plantstest.Example(id.Add(1))); err != nil {
			b.Error(err)
		}
	}
	b.Run("goroutines=1", func(b *testing.B) {
		for b.Loop() {
			create()
		}
	})
	b.Run("goroutines=64", func(b *testing.B) {
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				create()
			}
		})
	})
}
