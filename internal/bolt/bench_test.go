package bolt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// load creates n plants of owner, with consecutive ids from first, in a few
// large transactions without a sync for each.
func load(t testing.TB, s *Store, owner string, first int64, n int) {
	t.Helper()
	prefix, err := ownerKey(owner)
	if err != nil {
		t.Fatal(err)
	}
	s.db.NoSync = true
	defer func() { s.db.NoSync = false }()
	for from := 0; from < n; from += 100_000 {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			ids, all := tx.Bucket(idsBucket), tx.Bucket(plantsBucket)
			for i := from; i < min(n, from+100_000); i++ {
				p := plants.Plant{ID: first + int64(i), Name: fmt.Sprint("plant ", i), Tag: new("a tag")}
				value, err := encode(p, plants.NewIdempotencyKey(), time.Now())
				if err != nil {
					return err
				}
				if err := ids.Put(appendID(nil, p.ID), []byte(owner)); err != nil {
					return err
				}
				if err := all.Put(appendID(prefix, p.ID), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Sync(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkListPage measures pages of 100 plants, alternating between an owner
// of 1,000 plants and one of 1,000,000 in the same file: first pages, and pages
// from random positions.
//
//	ns/page-1k, ns/page-1M   the median for each owner
func BenchmarkListPage(b *testing.B) {
	s := openTest(b, newPath(b))
	small, large := crowd{"small", 0, 1_000}, crowd{"large", 1_000, 1_000_000}
	load(b, s, small.owner, small.first, small.n)
	load(b, s, large.owner, large.first, large.n)
	large.readAll(b, s) // page faults would be counted otherwise
	for _, anywhere := range []bool{false, true} {
		b.Run(fmt.Sprintf("anywhere=%t", anywhere), func(b *testing.B) {
			var smallTimes, largeTimes []time.Duration
			for b.Loop() {
				smallTimes = append(smallTimes, small.timePage(b, s, anywhere))
				largeTimes = append(largeTimes, large.timePage(b, s, anywhere))
			}
			b.ReportMetric(median(smallTimes), "ns/page-1k")
			b.ReportMetric(median(largeTimes), "ns/page-1M")
		})
	}
}

// A crowd is n plants of an owner, with consecutive ids from first.
type crowd struct {
	owner string
	first int64
	n     int
}

func (c crowd) readAll(b *testing.B, s *Store) {
	q := plants.Query{Limit: maxPage}
	for n := 0; n < c.n; n += maxPage {
		page, err := s.List(b.Context(), c.owner, q)
		if err != nil || len(page.Plants) != maxPage {
			b.Fatalf("%d plants, error %v", len(page.Plants), err)
		}
		q.After = &page.Plants[maxPage-1].ID
	}
}

func (c crowd) timePage(b *testing.B, s *Store, anywhere bool) time.Duration {
	q := plants.Query{Limit: 100}
	if anywhere {
		q.After = new(c.first + rand.Int64N(int64(c.n)-101))
	}
	start := time.Now()
	page, err := s.List(b.Context(), c.owner, q)
	took := time.Since(start)
	if err != nil || len(page.Plants) != 100 || page.Next == nil {
		b.Fatalf("%d plants, next %v, error %v", len(page.Plants), page.Next, err)
	}
	return took
}

// median is less sensitive than a mean to calls that the machine interrupted.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds())
}
