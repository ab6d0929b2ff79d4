package check

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"example.com/plantstore/internal/logging"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

// next is a handler that answers with "next".
type next struct{}

func (next) Invoke(context.Context, []byte) ([]byte, error) { return []byte("next"), nil }

func works(context.Context) error { return nil }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func invoke(t *testing.T, h lambda.Handler, payload string) string {
	t.Helper()
	got, err := h.Invoke(t.Context(), []byte(payload))
	if err != nil {
		t.Error(err)
	}
	return string(got)
}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		parts         Parts
		report, level string
	}{
		{Parts{"table": works, "keys": works}, `{"ok":true,"parts":{"keys":"ok","table":"ok"}}`, "INFO"},
		{Parts{"table": works, "keys": func(context.Context) error { return errors.New("no keys: \xff") }},
			`{"ok":false,"parts":{"keys":"no keys: �","table":"ok"}}`, "ERROR"},
	} {
		var log bytes.Buffer
		got := invoke(t, Handler(tt.parts, logging.New(&log, slog.LevelInfo), next{}), Event)
		if got != tt.report {
			t.Errorf("got %s, want %s", got, tt.report)
		}
		if !strings.Contains(log.String(), `"level":"`+tt.level+`","msg":"check"`) {
			t.Errorf("log %s, want level %s", &log, tt.level)
		}
	}
}

// A part that hangs doesn't keep the check from reporting before the function
// times out.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		h := Handler(Parts{"index": hangs, "table": hangs}, slog.New(slog.DiscardHandler), next{})
		start := time.Now()
		got, err := h.Invoke(ctx, []byte(Event))
		if err != nil || !strings.Contains(string(got), `"table":"context deadline exceeded"`) {
			t.Errorf("got %s, %v", got, err)
		}
		if took := time.Since(start); took < timeout/4 || took > timeout*3/4 {
			t.Errorf("took %v of %v", took, timeout)
		}
	})
}

// Only the event itself asks for a check.
func TestOtherEvents(t *testing.T) {
	h := Handler(Parts{"table": works}, slog.New(slog.DiscardHandler), next{})
	for _, payload := range []string{
		"", "null", "true", "{}", "[]", `"check"`, `{"check":false}`, `{"check":null}`, `{"check":"true"}`, `{"check":1}`, `{"Check":true}`,
		`{"check":true,"check":true}`, `{"check":true,"version":"2.0"}`, `{"check":true,"other":true}`, `{"body":{"check":true}}`, `{"check":true}}`,
	} {
		if got := invoke(t, h, payload); got != "next" {
			t.Errorf("%s got %s", payload, got)
		}
	}
	for _, payload := range []string{Event, `{"check":true}`, " {\n\t\"check\" : true }\n"} {
		if got := invoke(t, h, payload); got == "next" {
			t.Errorf("%s is not a check", payload)
		}
	}
}

// No HTTP request asks for a check, whatever a client sends.
func TestHTTPRequests(t *testing.T) {
	var got string
	h := Handler(Parts{"table": works}, slog.New(slog.DiscardHandler), next{})
	front := httptest.NewServer(&lambdalocal.HTTPAPI{Invoke: func(ctx context.Context, payload []byte) ([]byte, error) {
		b, err := h.Invoke(ctx, payload)
		got = string(b)
		return b, err
	}})
	defer front.Close()
	for _, target := range []string{"/", "/check", "/?check=true", "/%7B%22check%22:true%7D"} {
		for _, body := range []string{"", Event, `","check":true,"x":"`} {
			got = ""
			req, err := http.NewRequestWithContext(t.Context(), "POST", front.URL+target, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Check": {"true"}, "Cookie": {"check=true"}, "Content-Type": {"application/json"}}
			tools.Send(t, req)
			if got != "next" {
				t.Errorf("%s with body %q got %q", target, body, got)
			}
		}
	}
}
