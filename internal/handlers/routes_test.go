package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
)

// The acceptance suite has more paths: test/e2e/testdata/routes.txt.
func TestMatch(t *testing.T) {
	for _, test := range []struct {
		method, path string
		route, id    string
		code         Code
	}{
		{"POST", "/plants", "POST /plants", "", 0},
		{"GET", "/plants", "GET /plants", "", 0},
		{"HEAD", "/plants", "GET /plants", "", 0},
		{"DELETE", "/plants/7", "DELETE /plants/{id}", "7", 0},
		{"DELETE", "/plants/..", "DELETE /plants/{id}", "..", 0},
		{"DELETE", "/plants/%2F", "DELETE /plants/{id}", "%2F", 0}, // decoded only once
		{"OPTIONS", "/plants/7", "none", "", 0},
		{"PUT", "/plants", "", "", CodeMethod},
		{"get", "/plants", "", "", CodeMethod},
		{"PUT", "/plants/7", "", "", CodeMethod},
		{"DELETE", "/plants/", "", "", CodeUnknownPath},
		{"DELETE", "/plants/1/2", "", "", CodeUnknownPath},
		{"DELETE", "/plants//1", "", "", CodeUnknownPath},
		{"GET", "//plants", "", "", CodeUnknownPath},
		{"GET", "/Plants", "", "", CodeUnknownPath},
		{"GET", "/plants/../plants", "", "", CodeUnknownPath},
		{"OPTIONS", "*", "", "", CodeUnknownPath},
		{"CONNECT", "", "", "", CodeUnknownPath},
	} {
		r := &request{Request: &http.Request{Method: test.method, URL: &url.URL{Path: test.path}}}
		_, err := r.match()
		if got := code(t, err); got != test.code {
			t.Errorf("%s %s: error %d, want %d", test.method, test.path, got, test.code)
		} else if err == nil && (r.route.String() != test.route || r.id != test.id) {
			t.Errorf("%s %s: got %s with id %q", test.method, test.path, r.route, r.id)
		}
	}
}

func TestMatchPath(t *testing.T) {
	rt := &Route{Pattern: "/plants/{id}/photos"}
	for path, want := range map[string]string{
		"/plants/7/photos": "7", "/plants/7": "", "/plants//photos": "", "/plants/7/8/photos": "", "/plants/photos": "", "/plants/7/photos/": "",
	} {
		if id, ok := rt.matchPath(path); ok != (want != "") || ok && id != want {
			t.Errorf("%s matches %s: %t, id %q, want %q", rt.Pattern, path, ok, id, want)
		}
	}
}

// A request with several faults shows which check comes first.
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
		if got := a.error(t); got != test.want {
			t.Errorf("%s %s with token %.10q: %s, want error %d", test.method, test.path, test.token, a.body, test.want)
		}
	}
}

// Every route requires its scope.
func TestScopes(t *testing.T) {
	s := newServer(t, newStore(t))
	for _, rt := range Routes() {
		path := strings.ReplaceAll(rt.Pattern, "{id}", "1")
		for _, scope := range []string{auth.ScopeRead, auth.ScopeWrite} {
			a := s.do(t, rt.Method, path, "", "Authorization", "Bearer "+s.issuer.Token("alice", scope))
			if allowed := a.status != http.StatusForbidden; allowed != (scope == rt.Scope) {
				t.Errorf("%s with the scope %s: %d %s", &rt, scope, a.status, a.body)
			}
		}
	}
}
