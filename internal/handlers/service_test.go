package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
)

// A server is a service with its log and a token of alice.
type server struct {
	*Service
	token string
	log   bytes.Buffer
}

func newServer(t testing.TB, store records.Store[plants.Plant]) *server {
	t.Helper()
	issuer := authtest.NewIssuer(t)
	s := &server{token: issuer.Token("alice")}
	s.Service = newService(t, store, issuer, auth.Config{}, logging.New(&s.log, slog.LevelInfo))
	return s
}

// newService returns a service with a store of plants.
func newService(t testing.TB, store records.Store[plants.Plant], issuer *authtest.Issuer, tokens auth.Config, log *slog.Logger) *Service {
	t.Helper()
	return New(store, issuer.Verifier(t, tokens, Scopes()...), log)
}

// do serves a request of alice.
func (s *server) do(ctx context.Context, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.token)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// logLine returns the only log line since the last call.
func (s *server) logLine(t *testing.T) (line map[string]any) {
	t.Helper()
	text := s.log.String()
	s.log.Reset()
	if strings.Contains(text, "eyJ") {
		t.Error("the log contains a token")
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("the log is not one line of JSON: %v", err)
	}
	return line
}

func TestLogLine(t *testing.T) {
	s := newServer(t, new(recordstest.Memory[plants.Plant]))
	long := strings.Repeat("x", 63)
	seen := map[any]bool{}
	for _, test := range []struct {
		token, method, target, body string
		want                        map[string]any // and level, msg, request_id and duration_ms
	}{
		{s.token, "POST", "/plants?x=y", `{"id":1,"name":"Basil"}`, map[string]any{"method": "POST", "route": "POST /plants", "status": 200.0, "sub": "alice"}},
		{s.token, "HEAD", "/plants", "", map[string]any{"method": "HEAD", "route": "GET /plants", "status": 200.0, "sub": "alice"}},
		{s.token, "DELETE", "/plants/2", "", map[string]any{"method": "DELETE", "route": "DELETE /plants/{id}", "status": 404.0, "sub": "alice",
			"error": 40400.0, "cause": "you have no plant with this id"}},
		{"", "GET", "/plants", "", map[string]any{"method": "GET", "route": "GET /plants", "status": 401.0,
			"error": 40100.0, "cause": "no bearer token: no Authorization header"}},
		{s.token, "OPTIONS", "/plants?x=y", "", map[string]any{"method": "OPTIONS", "route": "none", "path": "/plants", "status": 204.0}},
		{s.token, "OPTIONS", "/%1b[2J%C2%9B%E2%80%AE", "", map[string]any{"method": "OPTIONS", "route": "none", "path": "/%1b[2J%C2%9B%E2%80%AE", "status": 404.0,
			"error": 40401.0, "cause": "no such path"}}, // can't control a terminal
		{s.token, "X" + long + "y", "/" + long + "y?z", "", map[string]any{"method": "X" + long + "…", "route": "none", "path": "/" + long + "…", "status": 404.0,
			"error": 40401.0, "cause": "no such path"}},
	} {
		r := httptest.NewRequest(test.method, test.target, strings.NewReader(test.body))
		if test.token != "" {
			r.Header.Set("Authorization", "Bearer "+test.token)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		line := s.logLine(t)
		id := line["request_id"]
		if id == "" || seen[id] || w.Header().Get("X-Request-Id") != id {
			t.Errorf("%s %s: request_id is %v, X-Request-Id is %q", test.method, test.target, id, w.Header().Get("X-Request-Id"))
		}
		seen[id] = true
		if ms, _ := line["duration_ms"].(float64); ms <= 0 {
			t.Errorf("%s %s: duration_ms is %v", test.method, test.target, line["duration_ms"])
		}
		test.want["level"], test.want["msg"] = "INFO", "request"
		for _, name := range []string{"time", "request_id", "duration_ms"} {
			delete(line, name)
		}
		if !maps.Equal(line, test.want) {
			t.Errorf("%s %s: log line\n%v, want\n%v", test.method, test.target, line, test.want)
		}
	}
}

// The reason why a token is rejected is in the log alone. Anybody can cause such a
// line, so it is neither an error nor a warning. Claims can't control the terminal of
// whoever reads the log.
func TestLogOfTokens(t *testing.T) {
	issuer, other := authtest.NewIssuer(t), authtest.NewIssuer(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(issuer.JWKS()) }))
	defer keys.Close()
	s := newServer(t, new(recordstest.Memory[plants.Plant]))
	s.Service = newService(t, new(recordstest.Memory[plants.Plant]), issuer, auth.Config{KeysURL: keys.URL}, s.Service.log)
	check := func(token string, status float64, name, want string) {
		t.Helper()
		s.token = token
		w := s.do(t.Context(), "GET", "/plants", "")
		line := s.logLine(t)
		if line["status"] != status || line["level"] != "INFO" || !strings.Contains(fmt.Sprint(line[name]), want) {
			t.Errorf("got %v, want status %v and %s with %s", line, status, name, want)
		}
		if name == "cause" && strings.Contains(w.Body.String(), want) {
			t.Errorf("the response has the reason: %s", w.Body)
		}
	}
	check(issuer.Token("al\u202eice\u009b"), 200, "sub", `al\u202eice\u009b`)
	check(issuer.Token("alice", "plants:read"), 403, "cause", `lacks the scope plants/read: scope has "plants:read"`)
	keys.Close()
	check(other.Token("alice"), 401, "cause", "refused")
	s.Service = newService(t, new(recordstest.Memory[plants.Plant]), issuer, auth.Config{KeysURL: keys.URL}, s.Service.log)
	check(other.Token("alice"), 503, "cause", "refused")
}

// Clients learn nothing of an internal error, and the log has all of it. The
// errors of a store are in package api.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct {
		fault any
		code  Code
		level string
	}{
		"error":                    {errors.New("error"), CodeInternal, "ERROR"},
		"panic":                    {"panic", CodeInternal, "ERROR"},
		"timeout":                  {context.DeadlineExceeded, CodeTimeout, "ERROR"},
		"timeout after throttling": {errors.Join(records.ErrThrottled, context.DeadlineExceeded), CodeTimeout, "ERROR"},
		"canceled":                 {context.Canceled, CodeTimeout, "INFO"},
	} {
		s := newServer(t, faultyStore{fault: test.fault})
		w := s.do(t.Context(), "GET", "/plants", "")
		if want := fmt.Sprintf(`{"error":%d,`, test.code); w.Code != test.code.Status() || !strings.HasPrefix(w.Body.String(), want) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		line := s.logLine(t)
		cause, _ := line["cause"].(string)
		stack, _ := line["stack"].(string)
		if line["level"] != test.level || !strings.Contains(cause, "secret") || strings.Contains(stack, "TestFaults") != (name == "panic") {
			t.Errorf("%s: wrong log line: %v", name, line)
		}
	}
}

// A faultyStore panics, or fails if its fault is an error.
type faultyStore struct {
	records.Store[plants.Plant]
	fault any
}

func (s faultyStore) List(context.Context, string, records.Query) (records.Page[plants.Plant], error) {
	if err, ok := s.fault.(error); ok {
		return records.Page[plants.Plant]{}, fmt.Errorf("secret: %w", err)
	}
	panic("secret")
}

// test/e2e/testdata/routes.txt has the paths of the service.
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
