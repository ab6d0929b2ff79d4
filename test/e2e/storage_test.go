package e2e

import (
	"strings"
	"sync"
	"testing"

	cryptorand "crypto/rand"

	"example.com/plantstore/test/dynamolocal"
)

// When DynamoDB fails, clients learn that it isn't their fault, whether to come
// back, and nothing else.
func TestStorageFaults(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	p := start(t, dynamolocal.Environ(proxy.URL, "e2e-"+cryptorand.Text()), t.TempDir())
	p.mayFail = true
	c := newClient(p.target())
	token := c.Token(t, TokenRequest{Subject: "alice"})
	for _, test := range []struct {
		title  string
		fault  dynamolocal.Fault
		status int
		number string
	}{
		{"hanging", dynamolocal.Hang, 503, "50300"},
		{"unreachable", dynamolocal.Cut, 503, "50300"},
		{"throttled", dynamolocal.Refuse(400, "ProvisionedThroughputExceededException"), 503, "50300"},
		{"broken", dynamolocal.Refuse(500, "InternalServerError"), 503, "50300"},
		{"refusing us", dynamolocal.Refuse(400, "AccessDeniedException"), 500, "50000"},
	} {
		t.Run(test.title, func(t *testing.T) {
			for _, operation := range []string{"Query", "PutItem", "DeleteItem"} {
				proxy.Always(operation, test.fault)
				defer proxy.Always(operation, nil)
			}
			var group sync.WaitGroup
			for _, r := range []request{
				{"GET", "/plants", bearer(token), nil},
				{"POST", "/plants", bearer(token), []byte(`{"id": 1, "name": "Basil"}`)},
				{"DELETE", "/plants/1", bearer(token), nil},
			} {
				group.Go(func() {
					a, err := c.send(t, r)
					body := string(a.body)
					if err != nil || a.status != test.status || !strings.Contains(body, test.number) || strings.Contains(body, "Exception") {
						t.Errorf("%v\n%s%s", err, r, a)
					}
				})
			}
			group.Wait()
		})
	}
	expect(t, c, token, "GET", 200, 0)
}

// A create whose answers from DynamoDB are all lost but the last is one create.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	p := start(t, dynamolocal.Environ(proxy.URL, "e2e-"+cryptorand.Text()), t.TempDir())
	target := p.target()
	target.Lag = dynamoLag
	c := newClient(target)
	token := newUser(t, c)
	id := randomID()
	proxy.Fail("PutItem", dynamolocal.Lose)
	createAll(t, c, token, []plant{{ID: &id, Name: "Basil"}})
	eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id", []plant{{ID: &id, Name: "Basil"}}) })
	proxy.Fail("DeleteItem", dynamolocal.Lose)
	if err := deleteAll(t, c, token); err != nil {
		t.Error(err)
	}
	eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id", nil) })
}
