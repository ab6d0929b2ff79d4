package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/harness"
)

// Without DynamoDB Local the program does not start.
func TestUnreachableDynamoDB(t *testing.T) {
	t.Parallel()
	refuses(t, harness.Environ(dynamolocal.Environ("http://127.0.0.1:1", "")...), t.TempDir(), nil, "DynamoDB at http://127.0.0.1:1", "is DynamoDB Local running?", "storage unreachable")
}

// If DynamoDB fails after the first part of a list, clients get that part with a Link to
// the rest, and the log has the cause once.
func TestListEndsEarly(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	p := start(t, harness.Environ(dynamolocal.Environ(proxy.URL, "e2e-"+rand.Text()+"-")...), t.TempDir())
	u, id := p.user(t), randomID()
	u.Lag = dynamoLag
	all := []element{plants.example(id), plants.example(id + 1), plants.example(id + 2)}
	plants.postAll(t, u, all...)
	plants.expect(t, u, all...)
	for name, fault := range map[string]dynamolocal.Fault{
		"cause\":\"storage throttled":   dynamolocal.Throttle,
		"cause\":\"storage unreachable": dynamolocal.Cut,
		"AccessDeniedException":         dynamolocal.Refuse(400, "AccessDeniedException"),
	} {
		before := len(p.Stdout.String())
		proxy.Always("Query", onePlantThen(fault))
		a, err := u.send(t, request{Method: "GET", Target: "/plants?include=id"}, 200)
		proxy.Always("Query", nil)
		if err != nil || !strings.HasPrefix(a.body, fmt.Sprintf(`[{"id":%d,`, id)) || strings.Count(a.body, `"id"`) != 1 {
			t.Errorf("%s: %v; want the first plant:\n%s", name, err, a)
			continue
		}
		if a, err = u.send(t, request{Method: "GET", Target: "/plants" + a.next()}, 200); err != nil || strings.Count(a.body, `"id"`) != 2 {
			t.Errorf("%s: %v; want the other plants:\n%s", name, err, a)
		}
		log := p.Stdout.String()[before:]
		if strings.Count(log, name) != 1 || strings.Count(log, `"level":"WARN","msg":"request"`) != 1 {
			t.Errorf("%s: want it in one line of the log, a warning:\n%s", name, log)
		}
	}
}

// onePlantThen makes DynamoDB end the first page after one plant, as it does after 1 MB,
// and makes requests for the other pages meet the fault.
func onePlantThen(fault dynamolocal.Fault) dynamolocal.Fault {
	return func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(body, []byte(`":after"`)) {
			return fault(r)
		}
		body = regexp.MustCompile(`"Limit":\d+`).ReplaceAll(body, []byte(`"Limit":1`))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return dynamolocal.Forward(r)
	}
}

// With another issuer and DynamoDB the program creates the tables, accepts only that
// issuer's tokens, issues none, and may listen on any address.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }))
	defer keys.Close()
	env := append(trust(config.TokenJWKSURL+"="+keys.URL), dynamolocal.Environ(dynamolocal.Endpoint(t), "e2e-"+rand.Text()+"-")...)
	p := start(t, harness.Environ(env...), t.TempDir(), "-addr", "0.0.0.0:0")
	target := p.target()
	target.Lag = dynamoLag
	u, id := newClient(target, issuer.SignRS256(authtest.Claims("alice", handlers.Scopes()...))), randomID()
	for _, r := range resources() { // each has its own table
		r.postAll(t, u, r.example(id))
		r.expect(t, u, r.example(id))
	}
	claims := authtest.Claims("alice")
	claims["iss"] = "urn:plantstore:local"
	u.as(issuer.Sign(claims)).expectList(t, 401)
	for _, path := range []string{"/oauth2/token", "/.well-known/jwks.json"} {
		if _, err := u.send(t, request{Method: "GET", Target: path}, 404); err != nil {
			t.Error(err)
		}
	}
	if !strings.HasPrefix(p.Base, "http://localhost:") {
		t.Errorf("the address %s can't be opened in a browser", p.Base)
	}
	if text := p.Stderr.String(); strings.Contains(text, "curl") {
		t.Errorf("the start-up messages show how to get a token that is not accepted:\n%s", text)
	}
}
