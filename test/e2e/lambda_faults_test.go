package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/test/dynamolocal"
)

// startFaulty starts a function that reaches DynamoDB Local through a proxy.
func startFaulty(t *testing.T, env ...string) (*function, *dynamolocal.Proxy) {
	t.Helper()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	issuer := authtest.NewIssuer(t)
	o := functionOptions(t, proxy.URL, append(env, "TOKEN_JWKS="+string(issuer.JWKS()))...)
	o.Freeze = true
	return startFunction(t, issuer, o), proxy
}

// lagging returns a client of the function, whose lists may lag.
func (f *function) lagging() *client {
	target := f.target()
	target.Lag = dynamoLag
	return newClient(target)
}

// A write that DynamoDB carried out, but whose answer was lost, is the success
// that it was, and done once: whatever way the answer was lost, however often.
func TestLambdaLostAnswers(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	c := f.lagging()
	for name, faults := range map[string][]dynamolocal.Fault{
		"cut off":             {dynamolocal.Lose},
		"slowly":              {dynamolocal.LoseSlowly},
		"in the middle":       {dynamolocal.Truncate},
		"stalled":             {dynamolocal.Stall},
		"a fault afterwards":  {dynamolocal.BreakAfter},
		"three times":         {dynamolocal.Lose, dynamolocal.BreakAfter, dynamolocal.Lose},
		"then throttled":      {dynamolocal.Lose, dynamolocal.Throttle, dynamolocal.Throttle},
		"throttled, then cut": {dynamolocal.Throttle, dynamolocal.Lose},
	} {
		token, id := newUser(t, c), randomID()
		proxy.Fail("PutItem", faults...)
		before := proxy.Count("PutItem")
		createAll(t, c, token, []plant{{ID: &id, Name: "Basil"}})
		eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id", []plant{{ID: &id, Name: "Basil"}}) })
		if n := proxy.Count("PutItem") - before; n != len(faults)+1 {
			t.Errorf("%s: %d attempts to create, want %d", name, n, len(faults)+1)
		}

		proxy.Fail("DeleteItem", faults...)
		before = proxy.Count("DeleteItem")
		a, err := c.send(t, request{method: "DELETE", target: fmt.Sprint("/plants/", id), headers: bearer(token)})
		if err != nil || a.status != http.StatusNoContent {
			t.Errorf("%s: the delete is answered %v\n%s", name, err, a)
		}
		if n := proxy.Count("DeleteItem") - before; n != len(faults)+1 {
			t.Errorf("%s: %d attempts to delete, want %d", name, n, len(faults)+1)
		}
		eventually(t, c, func() error { return compareIDs(t, c, token, "?include=id", nil) })
	}
}

// A plant of someone else isn't taken for an own one whose answer was lost, nor
// is a delete of nothing a success because it was throttled.
func TestLambdaLostAnswersOfOthers(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	c := f.lagging()
	alice, bob, id := newUser(t, c), newUser(t, c), randomID()
	createAll(t, c, alice, []plant{{ID: &id, Name: "Basil"}})
	proxy.Fail("PutItem", dynamolocal.Lose)
	a, err := create(t, c, bob, plant{ID: &id, Name: "Basil"})
	if err != nil || !strings.Contains(string(a.body), `"error":40003,`) {
		t.Errorf("%v\n%s", err, a)
	}
	for _, test := range []struct {
		id    int64
		fault dynamolocal.Fault
	}{{id, dynamolocal.Lose}, {id, dynamolocal.Throttle}, {randomID(), dynamolocal.Throttle}} {
		proxy.Fail("DeleteItem", test.fault)
		a, err = c.send(t, request{method: "DELETE", target: fmt.Sprint("/plants/", test.id), headers: bearer(bob)})
		if err != nil || a.status != http.StatusNotFound {
			t.Errorf("%v\n%s", err, a)
		}
	}
	eventually(t, c, func() error { return compareIDs(t, c, alice, "?include=id", []plant{{ID: &id, Name: "Basil"}}) })
}

// What passes is waited for, so that the client sees nothing of it.
func TestLambdaBriefFaults(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	c := f.lagging()
	token := newUser(t, c)
	for name, fault := range map[string]dynamolocal.Fault{
		"throttled": dynamolocal.Throttle, "unavailable": dynamolocal.Unavailable, "cut": dynamolocal.Cut, "garbled": dynamolocal.Garble,
	} {
		for _, operation := range []string{"PutItem", "Query", "DeleteItem"} {
			proxy.Fail(operation, fault, fault)
		}
		id := randomID()
		a, err := create(t, c, token, plant{ID: &id, Name: "Basil"})
		if err != nil || a.status != http.StatusOK {
			t.Errorf("%s: the create is answered %v\n%s", name, err, a)
		}
		expect(t, c, token, "GET", http.StatusOK, 0)
		a, err = c.send(t, request{method: "DELETE", target: fmt.Sprint("/plants/", id), headers: bearer(token)})
		if err != nil || a.status != http.StatusNoContent {
			t.Errorf("%s: the delete is answered %v\n%s", name, err, a)
		}
	}
}

// What doesn't pass is told before Lambda's deadline, in the service's own
// words. At the deadline the process would be killed and be a Lambda error, and
// the client would see the front's words.
func TestLambdaLastingFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		fault   dynamolocal.Fault
		timeout time.Duration // of the function; the template's is 10 s
		want    []int
	}{
		{"throttled", dynamolocal.Throttle, 0, []int{503}},
		{"unavailable", dynamolocal.Unavailable, 0, []int{503}},
		{"cut", dynamolocal.Cut, 0, []int{503}},
		{"hanging", dynamolocal.Hang, 0, []int{503, 504}},
		{"hanging, with little time", dynamolocal.Hang, 3 * time.Second, []int{504}},
		{"refusing us", dynamolocal.Refuse(400, "AccessDeniedException"), 0, []int{500}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
			issuer := authtest.NewIssuer(t)
			o := functionOptions(t, proxy.URL, "TOKEN_JWKS="+string(issuer.JWKS()))
			o.Timeout = test.timeout
			f := startFunction(t, issuer, o)
			c := newClient(f.target())
			token := f.token(t, TokenRequest{Subject: newSubject()})
			expect(t, c, token, "GET", http.StatusOK, 0)
			for _, operation := range []string{"PutItem", "Query", "DeleteItem"} {
				proxy.Always(operation, test.fault)
			}
			var group sync.WaitGroup
			for _, r := range []request{
				{"GET", "/plants", bearer(token), nil},
				{"POST", "/plants", bearer(token), []byte(`{"id": 1, "name": "Basil"}`)},
				{"DELETE", "/plants/1", bearer(token), nil},
			} {
				group.Go(func() { checkFailure(t, c, r, test.want) })
			}
			group.Wait()
			for _, operation := range []string{"PutItem", "Query", "DeleteItem"} {
				proxy.Always(operation, nil)
			}
			expect(t, c, token, "GET", http.StatusOK, 0) // all is well again
		})
	}
}

// checkFailure checks that r is answered with one of the statuses, in the Error
// shape, without a word of what went wrong inside.
func checkFailure(t *testing.T, c *client, r request, want []int) {
	a, err := c.send(t, r) // which checks the shape, and Retry-After with 503
	if err != nil {
		t.Error(err)
		return
	}
	for _, status := range want {
		if a.status == status && !strings.Contains(string(a.body), "Exception") {
			return
		}
	}
	t.Errorf("want one of %v:\n%s%s", want, r, a)
}

// Connections that the service closes, while the function is frozen or at the
// moment that it uses them, are no error that anyone sees.
func TestLambdaCutConnections(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	c := f.lagging()
	token := newUser(t, c)
	expect(t, c, token, "GET", http.StatusOK, 0)
	for _, faults := range [][]dynamolocal.Fault{nil, {dynamolocal.Cut}, nil, {dynamolocal.Cut}} {
		cut := func(operation string) {
			proxy.CutConnections()
			proxy.Fail(operation, faults...)
		}
		cut("Query")
		expect(t, c, token, "GET", http.StatusOK, 0)
		id := randomID()
		cut("PutItem")
		createAll(t, c, token, []plant{{ID: &id, Name: "Basil"}})
		cut("DeleteItem")
		a, err := c.send(t, request{method: "DELETE", target: fmt.Sprint("/plants/", id), headers: bearer(token)})
		if err != nil || a.status != http.StatusNoContent {
			t.Errorf("%v\n%s", err, a)
		}
	}
	if n := len(f.Environments()); n != 1 {
		t.Errorf("%d processes, want the one", n)
	}
}

// Without DynamoDB the init is bounded, and the function serves what it can.
func TestLambdaInitWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]dynamolocal.Fault{"hanging": dynamolocal.Hang, "cut": dynamolocal.Cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
			proxy.Always("Query", fault)
			issuer := authtest.NewIssuer(t)
			f := startFunction(t, issuer, functionOptions(t, proxy.URL, "TOKEN_JWKS="+string(issuer.JWKS())))
			c := newClient(f.target())
			expect(t, c, "x", "GET", http.StatusUnauthorized, 40101)
			f.awaitLog(t, `"level":"WARN","msg":"no connection to DynamoDB"`)
			if n := proxy.Count("Query"); name == "hanging" && n > 3 {
				t.Errorf("the init waited for %d attempts of a second, want at most 3", n)
			}
			proxy.Always("Query", nil)
			expect(t, c, f.token(t, TokenRequest{Subject: newSubject()}), "GET", http.StatusOK, 0)
		})
	}
}
