package e2e

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
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
		alice := p.user(t, "alice")
		compare(t, alice, created)
		if round == rounds-1 {
			break
		}
		left := 10 + rand.IntN(100)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for answered := true; answered; {
					id := rand.Int64()
					resp, body, err := alice.Do("POST", "/plants").Body(plantstest.CreateJSON(plantstest.Example(id))).Send()
					answered = err == nil
					mu.Lock()
					if answered && resp.StatusCode != 200 || !answered && left > 0 {
						t.Errorf("a create got %s, %v", body, err) // the kill isn't the reason
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
func compare(t *testing.T, c session.Client, created map[int64]bool) {
	t.Helper()
	_, body, err := c.Do("GET", "/plants?include=id").Send()
	var list []struct{ ID int64 }
	if err := errors.Join(err, json.Unmarshal([]byte(body), &list)); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	var stored []plants.Plant
	listed := map[int64]bool{}
	for _, p := range list {
		listed[p.ID] = true
		stored = append(stored, plantstest.Example(p.ID))
		if _, sent := created[p.ID]; !sent {
			t.Fatalf("plant %d was not created", p.ID)
		}
	}
	c.Owns(stored...)
	for id, answered := range created {
		if answered && !listed[id] {
			t.Fatalf("plant %d is lost", id)
		}
	}
}
