package issuer

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
)

const good = "grant_type=client_credentials&client_id=alice"

func basic(user string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(user, "any secret") }
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func TestClients(t *testing.T) {
	s := newServer(t, Access{})
	const grant = "grant_type=client_credentials"
	long := strings.Repeat("é", 127) + "x"
	for _, test := range []struct {
		name, body string
		set        func(*http.Request)
		want       string
	}{
		{"in the body", good, nil, "alice"},
		{"unknown parameters", good + "&resource=a&resource=b&x", nil, "alice"},
		{"charset", good, header("Content-Type", formType+"; charset=UTF-8"), "alice"},
		{"percent-encoded", grant + "&client_id=%F0%9F%8C%B1%20%2B%25", nil, "🌱 +%"},
		{"plus is a space", grant + "&client_id=a+b", nil, "a b"},
		{"255 bytes", grant + "&client_id=" + url.QueryEscape(long), nil, long},
		{"Basic", grant, basic("alice"), "alice"},
		{"Basic without secret", grant, func(r *http.Request) { r.SetBasicAuth("alice", "") }, "alice"},
		{"Basic, encoded", grant, basic("al%3Aice+%C3%A9"), "al:ice é"},
		{"basic in lower case", grant, header("Authorization", "basic YWxpY2U6"), "alice"},
		{"Basic and the same in the body", good, basic("alice"), "alice"},
		{"Basic and empty in the body", grant + "&client_id=", basic("alice"), "alice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if caller := s.caller(t, s.token(t, test.body, test.set)); caller.Subject != test.want {
				t.Errorf("a token for %q, want %q", caller.Subject, test.want)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	s := newServer(t, Access{})
	for scope, want := range map[string]struct {
		read, write bool
		answer      string
	}{
		"":                                    {true, true, "plants/read plants/write"},
		"plants/read":                         {true, false, "plants/read"},
		"plants/write":                        {false, true, "plants/write"},
		"plants/write plants/read":            {true, true, "plants/write plants/read"},
		"plants/read plants/read plants/read": {true, false, "plants/read"},
	} {
		body := good + "&scope=" + url.QueryEscape(scope)
		caller := s.caller(t, s.token(t, body, nil))
		if caller.Allows(auth.ScopeRead) != want.read || caller.Allows(auth.ScopeWrite) != want.write {
			t.Errorf("scope %q: got %+v", scope, caller)
		}
		_, answer := s.do(t, http.MethodPost, TokenPath, body, nil)
		var got grant
		if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Scope != want.answer {
			t.Errorf("scope %q: got %s, want the scope %q", scope, answer, want.answer)
		}
	}
	for _, scope := range []string{
		"plants/admin", "openid", "plants/read openid", "PLANTS/READ", "plants/read  plants/write",
		" plants/read", "plants/read ", " ", "plants/read\tplants/write", "plants/read,plants/write", "\xff",
	} {
		resp, answer := s.do(t, http.MethodPost, TokenPath, good+"&scope="+url.QueryEscape(scope), nil)
		checkFailure(t, resp, answer, http.StatusBadRequest, "invalid_scope")
	}
}

func TestBadRequests(t *testing.T) {
	s := newServer(t, Access{})
	const grant = "grant_type=client_credentials"
	encoded := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, test := range []struct {
		name, body string
		set        func(*http.Request)
		status     int
		code       string
	}{
		{"no media type", good, header("Content-Type"), 400, "invalid_request"},
		{"multipart", good, header("Content-Type", "multipart/form-data; boundary=x"), 400, "invalid_request"},
		{"in the URL only", "x=y", func(r *http.Request) { r.URL.RawQuery = good }, 400, "invalid_request"},
		{"bad encoding", good + "&scope=%zz", nil, 400, "invalid_request"},
		{"large body", good + "&x=" + strings.Repeat("x", 16<<10), nil, 400, "invalid_request"},
		{"no grant_type", "client_id=alice", nil, 400, "invalid_request"},
		{"grant_type twice", grant + "&" + good, nil, 400, "invalid_request"},
		{"client_id twice", good + "&client_id=alice", nil, 400, "invalid_request"},
		{"client_secret twice", good + "&client_secret=a&client_secret=b", nil, 400, "invalid_request"},
		{"scope twice", good + "&scope=plants/read&scope=plants/write", nil, 400, "invalid_request"},
		{"grant_type in upper case", "grant_type=CLIENT_CREDENTIALS&client_id=alice", nil, 400, "unsupported_grant_type"},
		{"no client", grant, nil, 400, "invalid_client"},
		{"client too long", grant + "&client_id=" + strings.Repeat("x", 256), nil, 400, "invalid_client"},
		{"client not UTF-8", grant + "&client_id=%ff", nil, 400, "invalid_client"},
		{"Basic without user", grant, basic(""), 401, "invalid_client"},
		{"Basic with bad encoding", grant, basic("%zz"), 401, "invalid_client"},
		{"Basic not UTF-8", grant, basic("%ff"), 401, "invalid_client"},
		{"Basic too long", grant, basic(strings.Repeat("x", 256)), 401, "invalid_client"},
		{"Basic without colon", grant, header("Authorization", encoded("alice")), 401, "invalid_client"},
		{"empty Authorization", good, header("Authorization", ""), 401, "invalid_client"},
		{"two clients", good, basic("bob"), 400, "invalid_request"},
		{"Basic twice", grant, header("Authorization", encoded("alice:"), encoded("alice:")), 400, "invalid_request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, answer := s.do(t, http.MethodPost, TokenPath, test.body, test.set)
			checkFailure(t, resp, answer, test.status, test.code)
		})
	}
}
