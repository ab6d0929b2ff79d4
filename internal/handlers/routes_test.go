package handlers

import (
	"net/http"
	"net/url"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		method, path string
		route, id    string
		code         Code
		allow        string
	}{
		{"POST", "/plants", "POST /plants", "", 0, ""},
		{"GET", "/plants", "GET /plants", "", 0, ""},
		{"HEAD", "/plants", "GET /plants", "", 0, ""},
		{"DELETE", "/plants/7", "DELETE /plants/{id}", "7", 0, ""},
		{"DELETE", "/plants/..", "DELETE /plants/{id}", "..", 0, ""},
		{"DELETE", "/plants/%2F", "DELETE /plants/{id}", "%2F", 0, ""}, // decoded once, and no more
		{"PUT", "/plants", "", "", CodeMethod, "GET, HEAD, POST"},
		{"DELETE", "/plants", "", "", CodeMethod, "GET, HEAD, POST"},
		{"OPTIONS", "/plants", "", "", CodeMethod, "GET, HEAD, POST"},
		{"get", "/plants", "", "", CodeMethod, "GET, HEAD, POST"},
		{"GET", "/plants/7", "", "", CodeMethod, "DELETE"},
		{"HEAD", "/plants/7", "", "", CodeMethod, "DELETE"},
		{"DELETE", "/plants/", "", "", CodeUnknownPath, ""},
		{"GET", "/plants/", "", "", CodeUnknownPath, ""},
		{"DELETE", "/plants/1/2", "", "", CodeUnknownPath, ""},
		{"DELETE", "/plants//1", "", "", CodeUnknownPath, ""},
		{"GET", "//plants", "", "", CodeUnknownPath, ""},
		{"GET", "/Plants", "", "", CodeUnknownPath, ""},
		{"GET", "/plants/../plants", "", "", CodeUnknownPath, ""},
		{"GET", "/plant", "", "", CodeUnknownPath, ""},
		{"GET", "/", "", "", CodeUnknownPath, ""},
		{"OPTIONS", "*", "", "", CodeUnknownPath, ""},
		{"CONNECT", "", "", "", CodeUnknownPath, ""},
	} {
		r := &request{Request: &http.Request{Method: test.method, URL: &url.URL{Path: test.path}}}
		err := r.match()
		if got := code(t, err); got != test.code {
			t.Errorf("%s %s: error %d, want %d", test.method, test.path, got, test.code)
			continue
		}
		if err == nil && (r.route.String() != test.route || r.id != test.id) {
			t.Errorf("%s %s: got %s with id %q", test.method, test.path, r.route, r.id)
		}
		if err != nil && describe(err).header.Get("Allow") != test.allow {
			t.Errorf("%s %s: Allow is %q, want %q", test.method, test.path, describe(err).header.Get("Allow"), test.allow)
		}
	}
}

// What is checked first shows when everything is wrong at once.
func TestOrderOfChecks(t *testing.T) {
	s := newServer(t, newStore(t))
	reader := "Bearer " + s.issuer.Token("alice", auth.ScopeRead)
	for _, test := range []struct {
		method, path, token string
		want                Code
	}{
		{"PUT", "/plants/x/y", "", CodeUnknownPath},
		{"PUT", "/plants", "", CodeMethod},
		{"POST", "/plants?limit=0", "", CodeNoToken},
		{"POST", "/plants?limit=0", "Bearer x", CodeInvalidToken},
		{"POST", "/plants?limit=0", reader, CodeScope},
		{"DELETE", "/plants/x", reader, CodeScope},
		{"GET", "/plants?limit=0", reader, CodeInvalidQuery},
	} {
		a := s.do(t, test.method, test.path, "not a plant", "Authorization", test.token)
		if got, message := a.error(t); got != test.want {
			t.Errorf("%s %s with token %.10q: error %d %s, want %d", test.method, test.path, test.token, got, message, test.want)
		}
	}
}

// Every route demands its scope of a token that names any.
func TestScopes(t *testing.T) {
	s := newServer(t, newStore(t))
	bodies := map[string]string{"POST": `{"id":1,"name":"Basil"}`}
	paths := map[string]string{"/plants/{id}": "/plants/1"}
	for _, rt := range routes {
		path := rt.Pattern
		if p, ok := paths[path]; ok {
			path = p
		}
		for _, scope := range []string{auth.ScopeRead, auth.ScopeWrite} {
			a := s.do(t, rt.Method, path, bodies[rt.Method], "Authorization", "Bearer "+s.issuer.Token("alice", scope))
			if allowed := a.status < 300; allowed != (scope == rt.Scope) {
				t.Errorf("%s with the scope %s: %d %s", &rt, scope, a.status, a.body)
			}
			if a.status == 403 && a.header.Get("WWW-Authenticate") != `Bearer realm="plants", error="insufficient_scope"` {
				t.Errorf("%s: WWW-Authenticate is %q", &rt, a.header.Get("WWW-Authenticate"))
			}
		}
	}
}

// With scopes required, a token that names none is good for nothing.
func TestRequireScopes(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	s := newServer(t, newStore(t))
	s.issuer = issuer
	s.Config.Handler = New(newStore(t), issuer.VerifierOf(t, auth.Config{RequireScopes: true}), s.Config.Handler.(*Service).log)
	if code, _ := s.do(t, "GET", "/plants", "").error(t); code != CodeScope {
		t.Errorf("a token without scopes: error %d, want %d", code, CodeScope)
	}
	if a := s.do(t, "GET", "/plants", "", "Authorization", "Bearer "+issuer.Token("alice", auth.ScopeRead)); a.status != 200 {
		t.Errorf("a token with the scope: %d %s", a.status, a.body)
	}
}
