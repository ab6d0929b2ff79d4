package handlers

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/tools"
)

// A server is the service on a real HTTP server, with a token issuer.
type server struct {
	*httptest.Server
	issuer *authtest.Issuer
	log    *logBuffer
}

// newServer starts a server for the plants in store.
func newServer(t testing.TB, store plants.Store) *server {
	t.Helper()
	s := &server{issuer: authtest.NewIssuer(t), log: new(logBuffer)}
	s.Server = httptest.NewServer(New(store, s.issuer.Verifier(t, config.Tokens{}), logging.New(s.log, slog.LevelInfo)))
	t.Cleanup(s.Close)
	return s
}

// newStore returns an empty store.
func newStore(t testing.TB) plants.Store {
	t.Helper()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "plants.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// An answer is a response with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

// error returns the code of a, which must have exactly the Error shape.
func (a answer) error(t testing.TB) Code {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	var e struct {
		Error   Code
		Message string
	}
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("%d %q does not have the Error shape: %v", a.status, a.body, err)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type of an error is %q", got)
	}
	if e.Error.Status() != a.status || e.Message == "" {
		t.Errorf("status %d with error %d and message %q", a.status, e.Error, e.Message)
	}
	return e.Error
}

// do sends a request with a token of alice. header has pairs of names and values,
// which may replace the token; an empty value deletes the header.
func (s *server) do(t testing.TB, method, path, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.issuer.Token("alice"))
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			req.Header.Del(header[i])
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, content := tools.Send(t, req)
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s %s: Cache-Control is %q", req.Method, req.URL, got)
	}
	return answer{resp.StatusCode, resp.Header, content}
}

// A logBuffer keeps log lines.
type logBuffer struct{ tools.Buffer }

// one returns the only log line since the last call.
func (l *logBuffer) one(t testing.TB) (line map[string]any) {
	t.Helper()
	text := l.Take()
	if err := json.Unmarshal([]byte(text), &line); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("the log is not one line of JSON: %q", text)
	}
	return line
}

func TestLogLine(t *testing.T) {
	s := newServer(t, newStore(t))
	token := s.issuer.Token("alice")
	seen := map[any]bool{}
	for _, test := range []struct {
		method, path, body string
		header             []string
		want               map[string]any
	}{
		{"POST", "/plants", `{"id":1,"name":"Basil"}`, nil,
			map[string]any{"method": "POST", "route": "POST /plants", "status": 200.0, "sub": "alice", "level": "INFO", "error": nil, "cause": nil}},
		{"HEAD", "/plants", "", nil,
			map[string]any{"method": "HEAD", "route": "GET /plants", "status": 200.0, "sub": "alice"}},
		{"DELETE", "/plants/2", "", nil,
			map[string]any{"route": "DELETE /plants/{id}", "status": 404.0, "error": 40400.0, "cause": plants.ErrNotFound.Error()}},
		{"GET", "/plants", "", []string{"Authorization", ""},
			map[string]any{"route": "GET /plants", "status": 401.0, "error": 40100.0, "sub": nil, "level": "INFO"}},
		{"PUT", "/plants", "", nil,
			map[string]any{"route": "none", "path": "/plants", "status": 405.0, "error": 40500.0, "sub": nil}},
		{"GET", "/plants", "", []string{"Authorization", "Bearer " + s.issuer.Token("al\u202eice\u009b")},
			map[string]any{"route": "GET /plants", "path": nil, "sub": `al\u202eice\u009b`}},
		{"GET", "/nowhere", "", nil,
			map[string]any{"route": "none", "path": "/nowhere", "status": 404.0, "error": 40401.0, "sub": nil}},
	} {
		a := s.do(t, test.method, test.path, test.body, test.header...)
		text := s.log.String()
		if strings.Contains(text, token) || strings.Contains(text, "eyJ") {
			t.Errorf("the log contains a token: %s", text)
		}
		line := s.log.one(t)
		for key, want := range test.want {
			if line[key] != want {
				t.Errorf("%s %s: log attribute %s=%v, want %v", test.method, test.path, key, line[key], want)
			}
		}
		if ms, ok := line["duration_ms"].(float64); !ok || ms <= 0 {
			t.Errorf("%s %s: duration_ms is %v", test.method, test.path, line["duration_ms"])
		}
		id := line[logging.RequestID]
		if s, _ := id.(string); s == "" || seen[id] {
			t.Errorf("%s %s: request_id %v is empty or not unique", test.method, test.path, id)
		}
		seen[id] = true
		if got := a.header.Get("X-Request-Id"); got != id {
			t.Errorf("%s %s: X-Request-Id is %q, the log has %v", test.method, test.path, got, id)
		}
	}
}

// The acceptance suite has the paths of the service: test/e2e/testdata/routes.txt.
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
