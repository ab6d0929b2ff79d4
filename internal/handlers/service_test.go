package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

// A server is a service with its log and a token of alice.
type server struct {
	*Service
	issuer *authtest.Issuer
	token  string
	log    bytes.Buffer
}

func newServer(t testing.TB, store plants.Store) *server {
	t.Helper()
	issuer := authtest.NewIssuer(t)
	s := &server{issuer: issuer, token: issuer.Token("alice", Scopes()...)}
	s.Service = newService(t, store, issuer, logging.New(&s.log, slog.LevelInfo))
	return s
}

// newService returns a service with a store of plants.
func newService(t testing.TB, store plants.Store, issuer *authtest.Issuer, log *slog.Logger) *Service {
	t.Helper()
	return New(store, issuer.Verifier(t, auth.Config{}, Scopes()...), log)
}

// do serves a request from alice. Its time is limited, in case a fault makes a list endless.
func (s *server) do(ctx context.Context, method, target, body string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+s.token)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// validBody is the body of a create.
var validBody = plantstest.CreateJSON(plantstest.Example(1))

// Each request gets one log line, without the query. The path keeps its escapes. A long path or
// method is truncated.
// Anybody can cause these lines, so they are neither errors nor warnings.
func TestLogLine(t *testing.T) {
	s := newServer(t, new(plantstest.Memory))
	alice, long := s.token, strings.Repeat("x", 63)
	times := regexp.MustCompile(`"time":"[^"]+",|,"duration_ms":\d+(\.\d+)?`)
	cause := regexp.MustCompile(`"cause":"([^"\\]|\\.)+"`)
	ids := map[string]bool{}
	for _, test := range []struct{ token, method, target, body, want string }{
		{alice, "POST", "/plants?x=y", validBody, `"method":"POST","route":"POST /plants","status":200,"sub":"alice"`},
		{alice, "HEAD", "/plants", "", `"method":"HEAD","route":"GET /plants","status":200,"sub":"alice"`},
		{alice, "DELETE", "/plants/2", "",
			`"method":"DELETE","route":"DELETE /plants/{id}","status":404,"sub":"alice","error":40400,"cause":…`},
		{"", "GET", "/plants", "", `"method":"GET","route":"GET /plants","status":401,"error":40100,"cause":…`},
		{s.issuer.Token("alice", "plants/write"), "GET", "/plants", "",
			`"method":"GET","route":"GET /plants","status":403,"sub":"alice","error":40300,"cause":…`},
		{alice, "OPTIONS", "/plants?x=y", "", `"method":"OPTIONS","route":"none","path":"/plants","status":204`},
		{alice, "GET", "/%1b[2J%C2%9B%20x", "",
			`"method":"GET","route":"none","path":"/%1b[2J%C2%9B%20x","status":404,"error":40401,"cause":…`},
		{alice, "X" + long + "y", "/" + long + "y?z", "",
			`"method":"X` + long + `…","route":"none","path":"/` + long + `…","status":404,"error":40401,"cause":…`},
	} {
		s.log.Reset()
		s.token = test.token
		id := s.do(t.Context(), test.method, test.target, test.body).Header().Get("X-Request-Id")
		want := `{"level":"INFO","msg":"request",` + test.want + `,"request_id":"` + id + `"}` + "\n"
		got := cause.ReplaceAllString(times.ReplaceAllString(s.log.String(), ""), `"cause":…`)
		if got != want || id == "" || ids[id] {
			t.Errorf("%s %s:\n got %s\nwant %s with a unique id", test.method, test.target, got, want)
		}
		ids[id] = true
	}
	lambda := logging.WithRequestID(t.Context(), "l1") // as package lambdahttp sets it
	if id := s.do(lambda, "GET", "/plants", "").Header().Get("X-Request-Id"); id != "l1" {
		t.Errorf("X-Request-Id is %q, want the id of the invocation", id)
	}
}

// A slowStore takes 1.5 ms for a list.
type slowStore struct{ plants.Store }

func (slowStore) List(ctx context.Context, _ string, _ *int64, _ int) ([]plants.Plant, bool, error) {
	time.Sleep(1500 * time.Microsecond)
	return nil, false, ctx.Err()
}

// duration_ms is in milliseconds, with fractions.
func TestDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, slowStore{})
		s.do(t.Context(), "GET", "/plants", "")
		if !strings.Contains(s.log.String(), `"duration_ms":1.5,`) {
			t.Errorf("want a duration of 1.5 ms in %s", &s.log)
		}
	})
}

// The log contains the cause of an error, and the stack of a panic. The level shows whether
// an operator must act. The rules of TestHTTP cover what clients get.
func TestLogLevel(t *testing.T) {
	for name, test := range map[string]struct {
		fault any
		level string
	}{
		"error":   {errors.New("error"), "ERROR"},
		"panic":   {"panic", "ERROR"},
		"timeout": {context.DeadlineExceeded, "ERROR"},
		"no keys": {auth.ErrKeysUnavailable, "INFO"},
	} {
		s := newServer(t, faultyStore{fault: test.fault})
		s.do(t.Context(), "GET", "/plants", "")
		log := s.log.String()
		if !strings.Contains(log, `"level":"`+test.level+`"`) || !strings.Contains(log, "secret") ||
			strings.Contains(log, "TestLogLevel") != (name == "panic") {
			t.Errorf("%s: want a line of level %s with the cause, and for a panic with the stack:\n%s", name, test.level, log)
		}
	}
}

// A faultyStore panics, or fails if its fault is an error.
type faultyStore struct {
	plants.Store
	fault any
}

func (s faultyStore) List(context.Context, string, *int64, int) ([]plants.Plant, bool, error) {
	if err, ok := s.fault.(error); ok {
		return nil, false, fmt.Errorf("secret: %w", err)
	}
	panic("secret")
}
