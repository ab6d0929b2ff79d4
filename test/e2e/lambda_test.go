package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/internal/testing/lambdalocal"
	"example.com/plantstore/test/session"
)

// dynamoLag is the longest lag of the index that lists read.
const dynamoLag = 5 * time.Second

// TestLambda runs the session on the function behind an HTTP API, on DynamoDB Local.
func TestLambda(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	f := startFunction(t, issuer, functionOptions(t, dynamolocal.Endpoint(t), staticKeys(issuer)))
	alice, bob := issuer.Token("alice", handlers.Scopes()...), issuer.Token("bob", handlers.Scopes()...)
	session.Run(t, session.Front{Base: f.base, Alice: alice, Bob: bob, Lag: dynamoLag})
}

// A malformed request is no Lambda error, and nothing of it is printed outside the log's
// JSON, where it could forge lines: startFunction checks the output.
func TestLambdaMalformed(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	f := startFunction(t, issuer, functionOptions(t, dynamolocal.Endpoint(t), staticKeys(issuer)))
	for event, want := range map[string]string{
		`{"rawPath": "/\n{}%", "rawQueryString": "", ` +
			`"requestContext": {"http": {"method": "GET", "path": "/\n{}%"}}}`: `{"statusCode":404,`,
		`{"rawPath": "/\n{}%", "rawQueryString": "\n", ` +
			`"requestContext": {"http": {"method": "GET", "path": "/\n{}%"}}}`: `{"statusCode":400,`,
		`{"rawPath": "/\n{}%", "rawQueryString": "", ` +
			`"requestContext": {"http": {"method": "\n{}", "path": "/\n{}%"}}}`: `{"statusCode":400,`,
		`{"rawPath": "/\n{}%", "rawQueryString": 7, ` +
			`"requestContext": {"http": {"method": "GET", "path": "/\n{}%"}}}`: `{"statusCode":400,`,
	} {
		if got, err := f.Invoke(t.Context(), []byte(event)); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: got %s, %v, want %s", event, got, err, want)
		}
	}
}

// A function is cmd/lambda behind an HTTP API.
type function struct {
	*lambdalocal.Environment
	base   string
	issuer *authtest.Issuer
}

// staticKeys returns the variable that contains the keys of the issuer.
func staticKeys(issuer *authtest.Issuer) string {
	return config.EnvTokenJWKS + "=" + string(issuer.JWKS())
}

// functionOptions returns the options of a function with a new table in DynamoDB
// Local, which it reaches at the given endpoint. It trusts issuers of package
// authtest; keys is the variable that says where their keys are.
func functionOptions(t *testing.T, endpoint, keys string, env ...string) lambdalocal.Options {
	t.Helper()
	path, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	_, table := dynamolocal.Table(t)
	return lambdalocal.Options{
		Binary: path,
		Freeze: true,
		Env:    slices.Concat(dynamolocal.Environ(endpoint, table), trust(keys), env),
	}
}

// startFunction starts the function. When the test ends, it checks that there
// was no Lambda error, and checks the log.
func startFunction(t *testing.T, issuer *authtest.Issuer, o lambdalocal.Options) *function {
	t.Helper()
	f := &function{issuer: issuer}
	t.Cleanup(func() { // after the function has ended
		checkLog(t, f.Stdout.String())
		if text := f.Stderr.String(); text != "" {
			t.Errorf("on standard error:\n%.5000s", text)
		}
	})
	f.Environment, f.base = lambdalocal.Start(t, o)
	return f
}

// user returns a user of the function.
func (f *function) user(t *testing.T) session.Client {
	return newClient(t, f.base, f.issuer.Token("alice"))
}

// startFaulty starts a function that reaches DynamoDB Local through a proxy.
func startFaulty(t *testing.T, env ...string) (*function, *dynamolocal.Proxy) {
	t.Helper()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	issuer := authtest.NewIssuer(t)
	return startFunction(t, issuer, functionOptions(t, proxy.URL, staticKeys(issuer), env...)), proxy
}

// If DynamoDB hangs, the init ends in time, and the function answers what it can.
// Lasting faults are reported before Lambda's deadline, in the service's own words:
// at the deadline Lambda would kill the process and count an error, and API Gateway
// would answer. Afterwards the service works again.
func TestLambdaFaults(t *testing.T) {
	t.Parallel()
	proxy, issuer := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t)), authtest.NewIssuer(t)
	proxy.Always("Query", dynamolocal.Hang) // before the init
	o := functionOptions(t, proxy.URL, staticKeys(issuer))
	o.Timeout = 3 * time.Second
	f := startFunction(t, issuer, o)
	u := f.user(t)
	u.As("x").Do("GET", "/plants").Fails(40101)
	f.awaitLog(t, `"level":"WARN","msg":"no connection to DynamoDB"`)
	if n := proxy.Count("Query"); n > 3 {
		t.Errorf("the init made %d attempts of a second each, want at most 3", n)
	}
	// On a busy machine a request may take more than its 2.5 s.
	becomes := func(status int) {
		t.Helper()
		harness.Await(t, func() error {
			resp, body, err := u.Do("GET", "/plants").Send()
			if err == nil && resp.StatusCode != status {
				err = fmt.Errorf("got %s %s, want status %d", resp.Status, body, status)
			}
			return err
		})
	}
	proxy.Always("Query", nil)
	becomes(200)
	proxy.Always("Query", dynamolocal.Throttle)
	becomes(503)
	proxy.Always("GetItem", dynamolocal.Hang)
	u.Do("DELETE", "/plants/1").Fails(50400)
	proxy.Always("Query", nil)
	becomes(200)
}
