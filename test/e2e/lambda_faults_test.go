package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/tools"
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

// Lasting faults are reported before Lambda's deadline, in the service's own
// words. At the deadline Lambda would kill the process and count an error, and
// API Gateway would answer. Afterwards the service works again.
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
			issuer := authtest.NewIssuer(t)
			o := functionOptions(t, proxy.URL, staticKeys(issuer))
			o.Timeout = test.timeout
			c, token := startFunction(t, issuer, o).user()
			expect(t, c, token, "GET", 200, 0)
			failing := map[string]string{"GET /plants": "Query", "POST /plants": "PutItem", "DELETE /plants/1": "DeleteItem"}
			var group sync.WaitGroup
			for start, operation := range failing {
				proxy.Always(operation, test.fault)
				method, target, _ := strings.Cut(start, " ")
				r := request{method, target, bearer(token), []byte(`{"id": 1, "name": "Basil"}`)}
				group.Go(func() {
					a, err := c.send(t, r)
					if err = want(a, err, test.want...); err != nil || strings.Contains(string(a.body), "Exception") {
						t.Errorf("%v\n%s%s", err, r, a)
					}
				})
			}
			group.Wait()
			for _, operation := range failing {
				proxy.Always(operation, nil)
			}
			expect(t, c, token, "GET", 200, 0)
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
		proxy.CloseClientConnections()
		expect(t, c, token, "GET", 200, 0)
		id := randomID()
		proxy.CloseClientConnections()
		createAll(t, c, token, plant{ID: &id, Name: "Basil"})
		proxy.CloseClientConnections()
		expectStatus(t, 204)(remove(t, c, token, id))
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

// While the keys are unavailable, at init or later, requests with a token are
// answered 503. Once the keys are available they succeed. Package auth tests when
// they are fetched.
func TestLambdaKeysUnavailable(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	var up atomic.Bool
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			<-r.Context().Done()
			return
		}
		w.Write(issuer.JWKS())
	}))
	t.Cleanup(keys.Close) // after the function
	o := functionOptions(t, dynamolocal.Endpoint(t), config.TokenJWKSURL+"="+keys.URL)
	o.Freeze = true
	f := startFunction(t, issuer, o)
	c, token := f.user()
	for range 5 {
		expect(t, c, token, "GET", 503, 50300)
	}
	expect(t, c, "x", "GET", 401, 40101) // needs no key
	f.awaitLog(t, `"level":"WARN","msg":"no token keys"`)
	up.Store(true)
	tools.Await(t, func() error {
		a, err := c.send(t, request{method: "GET", target: "/plants", headers: bearer(token)})
		if err = want(a, err, 200); err != nil && a.header.Get("Retry-After") != "5" {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		return err
	})
	up.Store(false)
	_, other := f.user()
	expect(t, c, other, "GET", 200, 0) // the keys are kept
}
