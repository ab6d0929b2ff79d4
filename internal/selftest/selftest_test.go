package selftest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answer is a function that answers every event with itself.
type answer string

func (a answer) Invoke(context.Context, []byte) ([]byte, error) { return []byte(a), nil }

const unauthorized = answer(`{"statusCode":401,"body":"{}"}`)

func TestSelftest(t *testing.T) {
	type parts = map[string]func(context.Context) error
	works := func(context.Context) error { return nil }
	fails := func(context.Context) error { return errors.New("no keys: \xff") }
	for _, tt := range []struct {
		parts  parts
		next   answer
		report string
	}{
		{parts{"table": works, "keys": works}, unauthorized, `{"ok":true,"parts":{"http":"ok","keys":"ok","table":"ok"}}`},
		{parts{"table": works, "keys": fails}, unauthorized, `{"ok":false,"parts":{"http":"ok","keys":"no keys: �","table":"ok"}}`},
		{nil, `{"statusCode":200,"body":"[]"}`, `{"ok":false,"parts":{"http":"a request without a token got {\"statusCode\":200,\"body\":\"[]\"}, want status 401"}}`},
		{nil, "nonsense", `{"ok":false,"parts":{"http":"a request without a token got nonsense, want status 401"}}`},
	} {
		c := &Handler{Parts: tt.parts, Next: tt.next}
		got, err := c.Invoke(t.Context(), []byte(" {\n\t\"selftest\" : true }\n"))
		if err != nil || string(got) != tt.report {
			t.Errorf("got %s, %v, want %s", got, err, tt.report)
		}
	}
}

// A part that hangs keeps neither the others from working nor the self-test from
// reporting before the function times out.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		slow := func(ctx context.Context) error { time.Sleep(timeout / 2); return ctx.Err() }
		c := &Handler{Parts: map[string]func(context.Context) error{"a": slow, "b": hangs, "c": slow}, Next: unauthorized}
		got, err := c.Invoke(ctx, []byte(`{"selftest": true}`))
		if err != nil || !strings.Contains(string(got), `"a":"ok","b":"context deadline exceeded","c":"ok"`) || ctx.Err() != nil {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

// Only the event itself asks for a self-test; no HTTP request does, since its event
// has other members.
func TestOtherEvents(t *testing.T) {
	c := &Handler{Next: answer("next")}
	for _, payload := range []string{
		"", "null", "{}", `{"selftest":false}`, `{"selftest":"true"}`, `{"Selftest":true}`, `{"selftest":true,"selftest":true}`,
		`{"selftest":true,"version":"2.0"}`, `{"selftest":true,"other":true}`, `{"body":{"selftest": true}}`, `{"selftest": true}}`,
	} {
		if got, err := c.Invoke(t.Context(), []byte(payload)); err != nil || string(got) != "next" {
			t.Errorf("%s got %s, %v", payload, got, err)
		}
	}
}
