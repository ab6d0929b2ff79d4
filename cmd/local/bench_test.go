package main

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkCreate compares 64 clients with one, in durable creates per second
// through the whole server. The two alternate, so that background load affects
// both.
func BenchmarkCreate(b *testing.B) {
	base := start(b)
	token := token(b, base)
	var one, many float64
	for b.Loop() {
		one += createRate(b, base, token, 1)
		many += createRate(b, base, token, 64)
	}
	b.ReportMetric(one/float64(b.N), "creates/s/1-client")
	b.ReportMetric(many/float64(b.N), "creates/s/64-clients")
	b.ReportMetric(many/one, "ratio")
}

// createRate returns the number of creates per second of all clients together.
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
