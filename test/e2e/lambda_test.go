package e2e

import (
	"fmt"
	"regexp"
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

// TestLambda runs the session on the function behind an HTTP API, on DynamoDB Local. Then it
// sends malformed requests. They are no Lambda errors, and nothing of them is printed outside
// the log's JSON, where it could forge lines: startFunction checks the output.
func TestLambda(t *testing.T) {
	t.Parallel()
	f := startFunction(t, dynamolocal.Endpoint(t), time.Minute)
	alice, bob := f.issuer.Token("alice", handlers.Scopes()...), f.issuer.Token("bob", handlers.Scopes()...)
	session.Run(t, session.Front{Base: f.base, Alice: alice, Bob: bob, Lag: dynamoLag})
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

// ids are those of Lambda, the trace and API Gateway, at the end of a log line.
var ids = regexp.MustCompile(`"request_id":"[^"]+","trace_id":"1-[0-9a-f]+-[0-9a-f]+","apigw_request_id":"[^"]*"\}\n$`)

// startFunction starts the function with a new table in DynamoDB Local, which it reaches at the
// given endpoint. When the test ends, it checks that there was no Lambda error, and checks the log.
func startFunction(t *testing.T, endpoint string, timeout time.Duration, env ...string) *function {
	t.Helper()
	binary, err := harness.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	_, table := dynamolocal.Table(t)
	f := &function{issuer: authtest.NewIssuer(t)}
	t.Cleanup(func() { // after the function has ended
		log := f.Stdout.String()
		checkLog(t, log)
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"msg":"request"`) && (!ids.MatchString(line) || strings.Contains(line, "source_ip")) {
				t.Errorf("without ids, or with the client's address, which API Gateway logs: %s", line)
			}
		}
		if text := f.Stderr.String(); text != "" {
			t.Errorf("on standard error:\n%.5000s", text)
		}
	})
	f.Environment, f.base = lambdalocal.Start(t, lambdalocal.Options{
		Binary:  binary,
		Freeze:  true,
		Timeout: timeout,
		Env:     slices.Concat(dynamolocal.Environ(endpoint, table), trust(staticKeys(f.issuer)), env),
	})
	return f
}

// If DynamoDB hangs, the init ends in time, and the function answers what it can.
// Lasting faults are reported before Lambda's deadline, in the service's own words:
// at the deadline Lambda would kill the process and count an error, and API Gateway
// would answer. Afterwards the service works again. Clients don't notice connections that
// DynamoDB closes while the function is frozen.
func TestLambdaFaults(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	proxy.Always("Query", dynamolocal.Hang) // before the init
	f := startFunction(t, proxy.URL, 3*time.Second, "LOG_LEVEL=debug")
	u := newClient(t, f.base, f.issuer.Token("alice"))
	u.As("x").Do("GET", "/plants").Fails(40101)
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
	if err := f.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.CloseClientConnections()
	u.Do("GET", "/plants").Gets(200, "[]")
	for _, line := range []string{
		`"level":"WARN","msg":"DynamoDB can't be used yet"`,
		`"level":"DEBUG","msg":"AWS SDK","detail":"attempt failed: `,
	} {
		if log := f.Stdout.String(); !strings.Contains(log, line) {
			t.Errorf("%s is missing in the log:\n%s", line, log)
		}
	}
}
