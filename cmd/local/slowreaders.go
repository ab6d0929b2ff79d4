package main

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxReaders is the maximum number of GET requests to serve at once. Each
	// holds its body, a list of up to 2.5 MiB, until the client has read it.
	maxReaders = 16

	// stallTimeout is how long a client may read nothing while others wait.
	stallTimeout = 500 * time.Millisecond

	// chunkSize is how much a client must read in stallTimeout, in bytes.
	chunkSize = 64 << 10
)

// limitReaders limits the memory of clients that read slowly or not at all. It
// serves at most limit GET requests at once. Others wait, and while they do,
// clients that don't read lose their connections.
func limitReaders(limit int, next http.Handler) http.Handler {
	slots := make(chan struct{}, limit)
	var waiting atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		waiting.Add(1)
		select {
		case slots <- struct{}{}:
			waiting.Add(-1)
		case <-r.Context().Done(): // the client has disconnected
			waiting.Add(-1)
			return
		}
		defer func() { <-slots }()
		control := http.NewResponseController(w)
		control.SetWriteDeadline(time.Now().Add(writeTimeout)) // the wait doesn't count
		next.ServeHTTP(&watchedWriter{w, control, &waiting}, r)
	})
}

// A watchedWriter closes its connection if the client reads nothing for
// stallTimeout while other requests wait.
type watchedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	waiting *atomic.Int64
}

func (w *watchedWriter) Write(p []byte) (written int, err error) {
	progress := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { w.watch(progress) })
	defer watcher.Wait() // the connection may belong to another request then
	defer close(progress)
	for chunk := range slices.Chunk(p, chunkSize) {
		n, err := w.ResponseWriter.Write(chunk)
		written += n
		if err != nil {
			return written, err
		}
		progress <- struct{}{}
	}
	return written, nil
}

// watch makes Write fail if it makes no progress while other requests wait.
func (w *watchedWriter) watch(progress <-chan struct{}) {
	for {
		select {
		case _, ok := <-progress:
			if !ok {
				return
			}
		case <-time.After(stallTimeout):
			if w.waiting.Load() > 0 {
				w.control.SetWriteDeadline(time.Now())
			}
		}
	}
}

// Unwrap is for [http.ResponseController].
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
