package handlers

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/tools"
)

// A server is the service behind a real HTTP server, with its issuer of tokens.
type server struct {
	*httptest.Server
	issuer *authtest.Issuer
	log    *logBuffer
}

// newServer serves plants from store.
func newServer(t testing.TB, store plants.Store) *server {
	t.Helper()
	s := &server{issuer: authtest.NewIssuer(t), log: new(logBuffer)}
	s.Server = httptest.NewServer(New(store, s.issuer.Verifier(t), logging.New(s.log, slog.LevelInfo)))
	t.Cleanup(s.Close)
	return s
}

// newStore returns an empty embedded store.
func newStore(t testing.TB) plants.Store {
	t.Helper()
	store, err := bolt.Open(filepath.Join(t.TempDir(), "plants.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// An answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
}

// errorBody decodes the Error shape of a, which must have it to the letter.
func (a answer) error(t testing.TB) (code Code, message string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	var e struct {
		Error   Code
		Message string
	}
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("the answer %d has not the Error shape: %v: %q", a.status, err, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type of an error is %q", got)
	}
	if e.Error.Status() != a.status || e.Message == "" {
		t.Errorf("the status is %d, the error %d %q", a.status, e.Error, e.Message)
	}
	return e.Error, e.Message
}

// do sends a request of alice's, whose header pairs may override her token.
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
	return s.send(t, req)
}

func (s *server) send(t testing.TB, req *http.Request) answer {
	t.Helper()
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s %s: Cache-Control is %q", req.Method, req.URL, got)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// logBuffer keeps what was logged.
type logBuffer struct{ tools.Buffer }

// take returns the lines so far, and forgets them.
func (l *logBuffer) take(t testing.TB) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(l.Take()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("a log line is not JSON: %q", text)
		}
		lines = append(lines, line)
	}
	return lines
}

// one returns the only line so far.
func (l *logBuffer) one(t testing.TB) map[string]any {
	t.Helper()
	lines := l.take(t)
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1: %v", len(lines), lines)
	}
	return lines[0]
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
		{"GET", "/nowhere", "", nil,
			map[string]any{"route": "none", "status": 404.0, "error": 40401.0, "sub": nil}},
	} {
		s.do(t, test.method, test.path, test.body, test.header...)
		text := s.log.String()
		if strings.Contains(text, token) || strings.Contains(text, "eyJ") {
			t.Errorf("the log has a token: %s", text)
		}
		line := s.log.one(t)
		for key, want := range test.want {
			if line[key] != want {
				t.Errorf("%s %s: the log says %s=%v, want %v", test.method, test.path, key, line[key], want)
			}
		}
		if ms, ok := line["duration_ms"].(float64); !ok || ms <= 0 {
			t.Errorf("%s %s: duration_ms is %v", test.method, test.path, line["duration_ms"])
		}
		id := line[logging.RequestID]
		if s, _ := id.(string); s == "" || seen[id] {
			t.Errorf("%s %s: request_id %v is empty or not the request's own", test.method, test.path, id)
		}
		seen[id] = true
	}
}

// A front that knows the request's id gives it, and no second one is made.
func TestRequestIDOfTheFront(t *testing.T) {
	s := newServer(t, newStore(t))
	service := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service.ServeHTTP(w, r.WithContext(logging.With(r.Context(), slog.String(logging.RequestID, "front-1"))))
	})
	s.do(t, "GET", "/plants", "")
	if got := s.log.one(t)[logging.RequestID]; got != "front-1" {
		t.Errorf("request_id is %v, want the front's", got)
	}
}
