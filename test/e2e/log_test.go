package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

// Each request has one log line with its outcome and its user.
func TestLog(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, subject := newClient(p.target()), newSubject()
	token := c.Token(t, TokenRequest{Subject: subject})
	basil := []byte(`{"id": 1, "name": "Basil"}`)
	for _, r := range []request{
		{"POST", "/plants", bearer(token), basil},
		{"POST", "/plants", bearer(token), basil},
		{"GET", "/plants?limit=1&secret=x", bearer(token), nil},
		{"HEAD", "/plants", bearer(token), nil},
		{"DELETE", "/plants/1", bearer(token), nil},
		{"DELETE", "/plants/x", bearer(token + "x"), nil},
		{"GET", "/plants", nil, nil},
		{"PUT", "/plants", bearer(token), nil},
		{"GET", "/elsewhere?" + token, nil, nil},
	} {
		if _, err := c.send(t, r); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"INFO POST|POST /plants|200|<nil>|" + subject,
		"INFO POST|POST /plants|400|40003|" + subject,
		"INFO GET|GET /plants|200|<nil>|" + subject,
		"INFO HEAD|GET /plants|200|<nil>|" + subject,
		"INFO DELETE|DELETE /plants/{id}|204|<nil>|" + subject,
		"INFO DELETE|DELETE /plants/{id}|401|40101|<nil>",
		"INFO GET|GET /plants|401|40100|<nil>",
		"INFO PUT|none|405|40500|<nil>",
		"INFO GET|none|404|40401|<nil>",
	}
	var got []string
	ids := map[any]bool{}
	for _, line := range requestLines(t, p, len(want)) {
		got = append(got, fmt.Sprintf("%v %v|%v|%v|%v|%v", line["level"], line["method"], line["route"], line["status"], line["error"], line["sub"]))
		if ms, ok := line["duration_ms"].(float64); !ok || ms < 0 || ms > 60_000 {
			t.Errorf("duration_ms is %v", line["duration_ms"])
		}
		ids[line["request_id"]] = true
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(ids) != len(want) || ids[nil] {
		t.Errorf("the request ids are not unique: %v", ids)
	}
	for _, text := range []string{"secret=x", "Basil"} {
		if strings.Contains(p.Stdout.String(), text) {
			t.Errorf("the log contains %q", text)
		}
	}
}

// requestLines waits for n log lines of requests, which are written after the
// answers, and returns them.
func requestLines(t *testing.T, p *server, n int) (lines []map[string]any) {
	t.Helper()
	tools.Await(t, func() error {
		lines = nil
		for text := range strings.Lines(p.Stdout.String()) {
			var line map[string]any
			if err := json.Unmarshal([]byte(text), &line); err == nil && line["msg"] == "request" {
				lines = append(lines, line)
			}
		}
		if len(lines) < n {
			return fmt.Errorf("the log has %d lines of requests, want %d:\n%s", len(lines), n, p.Stdout.String())
		}
		return nil
	})
	return lines
}

// The start-up messages tell a person how to send the first request.
func TestBanner(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	p.Stop(t)
	text := p.Stderr.String()
	for _, want := range []string{"listening on " + p.Base + "\n", p.Data, "try it in a browser: " + p.Base + "/\n", "curl ", p.Base + "/oauth2/token"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
