package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// The program is killed repeatedly while clients write. After each restart
// everything that was acknowledged is there, and nothing else.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 25, 8
	dir := t.TempDir()
	l := ledger{plants: map[int64]state{}}
	for round := range rounds {
		p := start(t, program.Environ(), dir)
		c, token := newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"})
		l.compare(t, c, token)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for l.write(t, c, token) {
				}
			})
		}
		l.await(t, 10+rand.IntN(100))
		p.Kill()
		group.Wait()
		c.transport.CloseIdleConnections()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	p := start(t, program.Environ(), dir)
	l.compare(t, newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"}))
	t.Logf("%d writes were acknowledged, %d were not", l.acknowledged, l.unanswered)
	if l.unanswered == 0 {
		t.Error("every request was answered, which shows nothing")
	}
}

// A ledger records what must be in the store.
type ledger struct {
	mu           sync.Mutex
	plants       map[int64]state
	acknowledged int // writes with an answer
	unanswered   int // writes without one
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
	if !l.record(t, id, present, a, err, 200) || id%3 > 0 {
		return err == nil
	}
	a, err = remove(t, c, token, id)
	return l.record(t, id, deleted, a, err, 204)
}

func plantName(id int64) string { return "number " + strconv.FormatInt(id, 10) }

// record records the answer to a write, after which the plant has the given
// state if the status is right. It returns false if there was no answer.
func (l *ledger) record(t *testing.T, id int64, s state, a answer, err error, status int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.plants[id] = unknown
		l.unanswered++
		return false
	}
	if err := want(a, nil, status); err != nil {
		t.Error(err)
	}
	l.plants[id] = s
	l.acknowledged++
	return true
}

// await waits until n more writes have been acknowledged.
func (l *ledger) await(t *testing.T, n int) {
	t.Helper()
	acknowledged := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.acknowledged
	}
	n += acknowledged()
	tools.Await(t, func() error {
		if got := acknowledged(); got < n {
			return fmt.Errorf("%d of %d writes were acknowledged", got, n)
		}
		return nil
	})
}

// compare compares the list with the ledger, and resolves what was unknown.
func (l *ledger) compare(t *testing.T, c *client, token string) {
	t.Helper()
	list, _, err := walk(t, c, token, "include=id")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, p := range list {
		listed[*p.ID] = true
		if l.plants[*p.ID] == 0 || p.Name != plantName(*p.ID) || p.Tag != nil {
			t.Errorf("plant %d was not created like this: %+v", *p.ID, p)
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
