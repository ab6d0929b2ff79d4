package e2e

import (
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/plantstore/test/harness"
)

// The program is killed repeatedly while clients write. After each restart
// everything that was acknowledged is there, and nothing else.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 25, 8
	dir, all := t.TempDir(), writes{states: map[int64]state{}}
	for range rounds {
		p := start(t, harness.Environ(), dir)
		alice := newClient(p.target(), p.token(t, TokenRequest{Subject: "alice"}))
		all.compare(t, alice)
		all.left, all.kill = 10+rand.IntN(100), p.Kill
		var group sync.WaitGroup
		for range clients {
			group.Go(func() { all.writeUntilKilled(t, alice) })
		}
		group.Wait()
	}
	p := start(t, harness.Environ(), dir)
	all.compare(t, newClient(p.target(), p.token(t, TokenRequest{Subject: "alice"})))
	if all.unanswered == 0 {
		t.Error("every request was answered, which shows nothing")
	}
}

// A state is that of a plant after the last request about it.
type state int

const (
	present state = iota + 1
	deleted
	unknown // no answer to the request
)

// writes are the requests of all clients.
type writes struct {
	mu               sync.Mutex
	states           map[int64]state // by the id of the plant
	left, unanswered int
	kill             func() // is called when left is zero
}

// writeUntilKilled creates plants, and deletes those whose id is divisible by
// three, until there is no answer.
func (w *writes) writeUntilKilled(t *testing.T, c *client) {
	for s := present; s != unknown; {
		id := randomID()
		a, err := plants.post(t, c, plants.example(id), 200)
		if s = w.record(t, id, present, a, err); s == present && id%3 == 0 {
			a, err = plants.remove(t, c, id, 204)
			s = w.record(t, id, deleted, a, err)
		}
	}
}

// record records the outcome of a request that leads to the state s, or to unknown.
func (w *writes) record(t *testing.T, id int64, s state, a answer, err error) state {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.status == 0 {
		s = unknown
		w.unanswered++
	} else if err != nil {
		t.Error(err)
	}
	w.states[id] = s
	if w.left--; w.left == 0 {
		w.kill()
	}
	return s
}

// compare compares the list with the states, and resolves what was unknown.
func (w *writes) compare(t *testing.T, c *client) {
	t.Helper()
	list, _, err := plants.walk(t, c)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, p := range list {
		listed[p.id()] = true
		if w.states[p.id()] == 0 || p.String() != plants.example(p.id()).String() {
			t.Fatalf("plant %d was not created like this: %+v", p.id(), p)
		}
	}
	for id, last := range w.states {
		now := deleted
		if listed[id] {
			now = present
		}
		if last != now && last != unknown {
			t.Fatalf("plant %d is in the list: %t; the last request left it in state %d", id, listed[id], last)
		}
		w.states[id] = now
	}
}
