package e2e

import (
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
)

// dynamoLag is how far the index that lists read may lag behind.
const dynamoLag = 5 * time.Second

// The suite, on the embedded store.
func TestBolt(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	Run(t, p.target())
	leavesNothing(t, p)
}

// The suite, on DynamoDB Local, with a table that the program makes.
func TestDynamoDB(t *testing.T) {
	t.Parallel()
	env := dynamolocal.Environ(dynamolocal.Endpoint(t), "e2e-"+cryptorand.Text())
	target := start(t, env, t.TempDir()).target()
	target.Lag = dynamoLag
	Run(t, target)
}

// leavesNothing checks that the suite has removed the plants of all its users.
func leavesNothing(t *testing.T, p *server) {
	t.Helper()
	c := newClient(p.target())
	lists := 0
	for _, token := range p.tokens {
		a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)})
		if err != nil {
			t.Fatal(err)
		}
		if a.status != 200 {
			continue // it has expired, or is not for lists
		}
		if lists++; string(a.body) != "[]\n" {
			t.Errorf("left behind: %.300s", a.body)
		}
	}
	if lists < len(checks) {
		t.Errorf("the users have %d lists", lists)
	}
}
