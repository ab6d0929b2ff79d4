package e2e

import (
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
	o := functionOptions(t, proxy.URL, staticKeys(issuer), env...)
	o.Freeze = true
	return startFunction(t, issuer, o), proxy
}

// expectStatus checks the status of the answer to a create or a delete:
// expectStatus(t, 204)(remove(t, c, token, id)).
func expectStatus(t *testing.T, status int) func(answer, error) {
	return func(a answer, err error) {
		t.Helper()
		if err = want(a, err, status); err != nil {
			t.Error(err)
		}
	}
}

// A write that DynamoDB carried out succeeds, and is carried out once, however
// its answer was lost. Package dynamo tests more faults.
func TestLambdaLostAnswers(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	for name, faults := range map[string][]dynamolocal.Fault{
		"no answer":        {dynamolocal.LoseSlowly},
		"three times":      {dynamolocal.Lose, dynamolocal.BreakAfter, dynamolocal.Lose},
		"throttled before": {dynamolocal.Throttle, dynamolocal.Lose},
	} {
		c, token := f.user()
		id := randomID()
		proxy.Fail("PutItem", faults...)
		before := proxy.Count("PutItem")
		createAll(t, c, token, plant{ID: &id, Name: "Basil"})
		expectPlants(t, c, token, plant{ID: &id, Name: "Basil"})
		if n := proxy.Count("PutItem") - before; n < len(faults)+1 {
			t.Errorf("%s: %d attempts to create, want %d", name, n, len(faults)+1)
		}

		proxy.Fail("DeleteItem", faults...)
		before = proxy.Count("DeleteItem")
		expectStatus(t, 204)(remove(t, c, token, id))
		if n := proxy.Count("DeleteItem") - before; n < len(faults)+1 {
			t.Errorf("%s: %d attempts to delete, want %d", name, n, len(faults)+1)
		}
		expectPlants(t, c, token)
	}
}

// Lasting faults are reported before Lambda's deadline, in the service's own
// words. At the deadline Lambda would kill the process and count an error, and
// API Gateway would answer.
func TestLambdaLastingFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault   dynamolocal.Fault
		timeout time.Duration // of the function
		want    []int
	}{
		"throttled":                 {dynamolocal.Throttle, 10 * time.Second, []int{503}},
		"hanging":                   {dynamolocal.Hang, 10 * time.Second, []int{503, 504}},
		"hanging, with little time": {dynamolocal.Hang, 3 * time.Second, []int{504}},
		"access denied":             {dynamolocal.Refuse(400, "AccessDeniedException"), 10 * time.Second, []int{500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
			issuer := authtest.NewIssuer(t)
			o := functionOptions(t, proxy.URL, staticKeys(issuer))
			o.Timeout = test.timeout
			f := startFunction(t, issuer, o)
			c, token := f.user()
			expect(t, c, token, "GET", 200, 0)
			failStorage(t, c, token, proxy, test.fault, test.want...)
		})
	}
}

// Clients don't notice connections that DynamoDB closes while the function is
// frozen.
func TestLambdaClosedConnections(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	c, token := f.user()
	expect(t, c, token, "GET", 200, 0)
	for range 3 {
		proxy.CutConnections()
		expect(t, c, token, "GET", 200, 0)
		id := randomID()
		proxy.CutConnections()
		createAll(t, c, token, plant{ID: &id, Name: "Basil"})
		proxy.CutConnections()
		expectStatus(t, 204)(remove(t, c, token, id))
	}
	if n := len(f.Environments()); n != 1 {
		t.Errorf("%d processes, want 1", n)
	}
}

// If DynamoDB hangs, the init ends in time, and the function answers what it can.
func TestLambdaInitWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	proxy.Always("Query", dynamolocal.Hang)
	c, token := f.user()
	expect(t, c, "x", "GET", 401, 40101)
	f.awaitLog(t, `"level":"WARN","msg":"no connection to DynamoDB"`)
	if n := proxy.Count("Query"); n > 3 {
		t.Errorf("the init made %d attempts of a second each, want at most 3", n)
	}
	proxy.Always("Query", nil)
	expect(t, c, token, "GET", 200, 0)
}
