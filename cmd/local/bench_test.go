package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkCreate measures how many plants per second 1, 8 and 64 clients
// create, all on disk. Creates at the same time share a commit. The numbers of
// clients take turns, so that background load affects all.
func BenchmarkCreate(b *testing.B) {
	base := start(b)
	token := token(b, base)
	rates := map[int]float64{1: 0, 8: 0, 64: 0}
	for b.Loop() {
		for _, clients := range []int{1, 8, 64} {
			rates[clients] += createRate(b, base, token, clients)
		}
	}
	for clients, sum := range rates {
		b.ReportMetric(sum/float64(b.N), fmt.Sprintf("creates/s/%d", clients))
	}
}

// createRate returns how many creates per second the clients do together.
func createRate(b *testing.B, base, token string, clients int) float64 {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var done atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for time.Since(start) < time.Second {
				if err := create(client, base, token, rand.Int64()); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}
