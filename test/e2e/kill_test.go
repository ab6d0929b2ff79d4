package e2e

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// The program is killed repeatedly while clients write. After each restart
// everything that was acknowledged is present, and nothing else.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 25, 8
	dir := t.TempDir()
	var known ledger
	for round := range rounds {
		p := start(t, program.Environ(), dir)
		c, token := newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"})
		known.compare(t, c, token)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for known.write(t, c, token) {
				}
			})
		}
		known.await(t, 10+rand.IntN(100))
		p.Kill()
		group.Wait()
		c.transport.CloseIdleConnections()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	p := start(t, program.Environ(), dir)
	known.compare(t, newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"}))
	t.Logf("%d creates and %d deletes were acknowledged, %d requests were not", known.created, known.deleted, known.unknown)
	if known.deleted == 0 || known.unknown == 0 {
		t.Error("too few requests to show anything")
	}
}

// A ledger records what must be in the store.
type ledger struct {
	mu      sync.Mutex
	plants  map[int64]state
	created int // acknowledged creates
	deleted int // acknowledged deletes
	unknown int // requests without an answer
}

type state int

const (
	present state = iota + 1
	deleted
	unknown // no answer to the last request
)

// write creates a plant, and deletes it if its id is divisible by three. It
// returns false once the program no longer answers.
func (l *ledger) write(t *testing.T, c *client, token string) bool {
	id := randomID()
	a, err := create(t, c, token, plant{ID: &id, Name: plantName(id)})
	if !l.record(t, id, a, err, 200) || err != nil {
		return false
	}
	if id%3 > 0 {
		return true
	}
	a, err = remove(t, c, token, id)
	return l.record(t, id, a, err, 204) && err == nil
}

func plantName(id int64) string { return "number " + strconv.FormatInt(id, 10) }

// await waits until n more writes have been acknowledged.
func (l *ledger) await(t *testing.T, n int) {
	t.Helper()
	acknowledged := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.created + l.deleted
	}
	n += acknowledged()
	for deadline := time.Now().Add(20 * time.Second); acknowledged() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("a hundred writes take 20 seconds")
			return
		}
	}
}

// record records the answer to a write. It returns false if its status isn't
// the wanted one.
func (l *ledger) record(t *testing.T, id int64, a answer, err error, want int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plants == nil {
		l.plants = map[int64]state{}
	}
	switch {
	case err != nil:
		l.plants[id] = unknown
		l.unknown++
	case a.status != want:
		t.Errorf("want status %d:\n%s", want, a)
		return false
	case want == 200:
		l.plants[id] = present
		l.created++
	default:
		l.plants[id] = deleted
		l.deleted++
	}
	return true
}

// compare compares the list with the ledger, and resolves what was unknown.
func (l *ledger) compare(t *testing.T, c *client, token string) {
	t.Helper()
	list, _, err := walk(t, c, token, "?include=id")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, p := range list {
		listed[*p.ID] = true
		if p.Name != plantName(*p.ID) || p.Tag != nil {
			t.Errorf("plant %d has changed: %+v", *p.ID, p)
		}
		if l.plants[*p.ID] == 0 {
			t.Errorf("nobody created plant %d", *p.ID)
		}
	}
	for id, state := range l.plants {
		switch {
		case state == present && !listed[id]:
			t.Errorf("plant %d was acknowledged but is missing", id)
		case state == deleted && listed[id]:
			t.Errorf("plant %d was deleted but is listed", id)
		case listed[id]:
			l.plants[id] = present
		default:
			l.plants[id] = deleted
		}
	}
}
