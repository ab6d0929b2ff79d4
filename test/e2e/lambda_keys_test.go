package e2e

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/tools"
)

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
	o.Freeze, o.Concurrency = true, 1 // a single process has the keys
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
