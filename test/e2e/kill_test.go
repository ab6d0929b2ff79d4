package e2e

import (
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// The program is killed repeatedly while clients create plants. After each restart
// every plant whose create was answered is there, and none that nobody created.
func TestKill(t *testing.T) {
	t.Parallel()
	const rounds, clients = 8, 8
	dir, unanswered := t.TempDir(), 0
	created := map[int64]bool{} // whether the create was answered, by id
	var mu sync.Mutex
	for round := range rounds {
		p := start(t, harness.Environ(), dir)
		alice := newClient(p.target(), p.token(t, "alice"))
		compare(t, alice, created)
		if round == rounds-1 {
			break
		}
		left := 10 + rand.IntN(100)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for answered := true; answered; {
					id := randomID()
					a, err := alice.post(t, plantstest.Example(id), 200)
					answered = a.status != 0
					mu.Lock()
					if err != nil && (answered || left > 0) {
						t.Error(err) // the kill isn't the reason
						answered = false
					}
					created[id] = answered
					if !answered {
						unanswered++
					}
					if left--; left == 0 {
						p.Kill()
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
	}
	if unanswered == 0 {
		t.Error("every request was answered, which shows nothing")
	}
}

// compare compares the list with the plants that were created.
func compare(t *testing.T, c *client, created map[int64]bool) {
	t.Helper()
	list, err := c.walk(t)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int64]bool{}
	for _, p := range list {
		listed[p.ID] = true
		if _, sent := created[p.ID]; !sent || !p.Equal(plantstest.Example(p.ID)) {
			t.Fatalf("this plant was not created: %s", plantstest.CreateJSON(p))
		}
	}
	for id, answered := range created {
		if answered && !listed[id] {
			t.Fatalf("plant %d is lost", id)
		}
	}
}
