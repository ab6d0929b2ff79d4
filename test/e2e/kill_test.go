package e2e

import (
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/plantstore/test/tools"
)

// The program is killed repeatedly while clients write. After each restart
// everything that was acknowledged is there, and nothing else.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 25, 8
	dir, states, unanswered := t.TempDir(), map[int64]state{}, 0
	for round := range rounds + 1 {
		p := start(t, tools.Environ(), dir)
		alice := newClient(p.target(), p.token(t, TokenRequest{Subject: "alice"}))
		compare(t, alice, states)
		if t.Failed() || round == rounds {
			t.Logf("round %d: %d plants, %d requests without an answer", round, len(states), unanswered)
			break
		}
		writes := make(chan write)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() { writeUntilKilled(t, alice, writes) })
		}
		go func() {
			group.Wait()
			close(writes)
		}()
		left := 10 + rand.IntN(100)
		for w := range writes {
			states[w.id] = w.state
			if w.state == unknown {
				unanswered++
			}
			if left--; left == 0 {
				p.Kill()
			}
		}
	}
	if unanswered == 0 {
		t.Error("every request was answered, which shows nothing")
	}
}

// A write is a request to create or delete a plant. After it, the plant has the
// state.
type write struct {
	id    int64
	state state
}

type state int

const (
	present state = iota + 1
	deleted
	unknown // no answer to the last request
)

// writeUntilKilled creates plants, and deletes those whose id is divisible by
// three. It reports each write, and ends when there is no answer.
func writeUntilKilled(t *testing.T, c *client, writes chan<- write) {
	report := func(id int64, s state, a answer, err error) (answered bool) {
		if a.status == 0 {
			s = unknown
		} else if err != nil {
			t.Error(err)
		}
		writes <- write{id, s}
		return s != unknown
	}
	for {
		id := randomID()
		a, err := plants.post(t, c, plants.example(id), 200)
		if !report(id, present, a, err) {
			return
		}
		if id%3 == 0 {
			a, err = plants.remove(t, c, id, 204)
			if !report(id, deleted, a, err) {
				return
			}
		}
	}
}

// compare compares the list with the states, and resolves what was unknown.
func compare(t *testing.T, c *client, states map[int64]state) {
	t.Helper()
	list, _, err := plants.walk(t, c)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, p := range list {
		listed[p.id()] = true
		if states[p.id()] == 0 || p.String() != plants.example(p.id()).String() {
			t.Errorf("plant %d was not created like this: %+v", p.id(), p)
		}
	}
	for id, state := range states {
		switch {
		case state == present && !listed[id]:
			t.Errorf("plant %d was acknowledged but is missing", id)
		case state == deleted && listed[id]:
			t.Errorf("plant %d was deleted but is listed", id)
		case listed[id]:
			states[id] = present
		default:
			states[id] = deleted
		}
	}
}
