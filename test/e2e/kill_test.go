package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// The program is killed while clients write, again and again. What it has
// acknowledged is there after each restart, and nothing else is.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 25, 8
	dir := t.TempDir()
	var known ledger
	for round := range rounds {
		p := start(t, program.Environ(), dir)
		known.compare(t, list(t, newClient(p.target()), "alice"))
		c, token := newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"})
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
	known.compare(t, list(t, newClient(p.target()), "alice"))
	t.Logf("%d plants created, %d deleted, of %d it wasn't known", known.created, known.deleted, known.unknown)
	if known.deleted == 0 || known.unknown == 0 {
		t.Error("too little was going on to show anything")
	}
}

// A ledger says what must be in the store.
type ledger struct {
	mu      sync.Mutex
	plants  map[int64]state
	created int // how many creates were acknowledged
	deleted int
	unknown int // how many requests got no answer
}

type state int

const (
	there   state = iota + 1
	gone          // deleted, and acknowledged
	unknown       // the last request got no answer
)

// write creates a plant and deletes every third. It returns false when the
// program no longer answers.
func (l *ledger) write(t *testing.T, c *client, token string) bool {
	id := randomID()
	a, err := create(t, c, token, plant{ID: &id, Name: plantName(id)})
	if !l.record(t, id, a, err, 200) || err != nil {
		return false
	}
	if id%3 > 0 {
		return true
	}
	a, err = c.send(t, request{method: "DELETE", target: "/plants/" + strconv.FormatInt(id, 10), headers: bearer(token)})
	return l.record(t, id, a, err, 204) && err == nil
}

func plantName(id int64) string { return "number " + strconv.FormatInt(id, 10) }

// await returns when n more writes have been acknowledged.
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
			t.Error("the program takes 20 seconds for a hundred writes")
			return
		}
	}
}

// record notes what an answer says of a plant. It returns false if the answer
// isn't the one that a write must have.
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
		t.Errorf("not %d:\n%s", want, a)
		return false
	case want == 200:
		l.plants[id] = there
		l.created++
	default:
		l.plants[id] = gone
		l.deleted++
	}
	return true
}

// compare checks the list against the ledger. What wasn't known is known then.
func (l *ledger) compare(t *testing.T, list []plant) {
	t.Helper()
	listed := map[int64]bool{}
	for _, p := range list {
		listed[*p.ID] = true
		if p.Name != plantName(*p.ID) || p.Tag != nil {
			t.Errorf("a plant has changed: %s", fmt.Sprint(*p.ID, p.Name, p.Tag))
		}
		if l.plants[*p.ID] == 0 {
			t.Errorf("nobody made plant %d", *p.ID)
		}
	}
	for id, state := range l.plants {
		switch {
		case state == there && !listed[id]:
			t.Errorf("plant %d was acknowledged and is lost", id)
		case state == gone && listed[id]:
			t.Errorf("plant %d was deleted and is back", id)
		case listed[id]:
			l.plants[id] = there
		default:
			l.plants[id] = gone
		}
	}
}
