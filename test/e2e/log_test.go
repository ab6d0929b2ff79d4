package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/program"
)

// Each request has one line in the log, which says what happened and to whom.
func TestLog(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	c, subject := newClient(p.target()), newSubject()
	token := c.Token(t, TokenRequest{Subject: subject})
	id := randomID()
	for _, r := range []request{
		{"POST", "/plants", bearer(token), fmt.Appendf(nil, `{"id": %d, "name": "Basil"}`, id)},
		{"POST", "/plants", bearer(token), fmt.Appendf(nil, `{"id": %d, "name": "Basil"}`, id)},
		{"GET", "/plants?limit=1&secret=x", bearer(token), nil},
		{"HEAD", "/plants", bearer(token), nil},
		{"DELETE", fmt.Sprint("/plants/", id), bearer(token), nil},
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
	// A line is written after its answer.
	var lines []map[string]any
	for deadline := time.Now().Add(10 * time.Second); len(lines) < len(want) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		lines = requestLines(t, p.Stdout.String())
	}
	var got []string
	ids := map[any]bool{}
	for _, line := range lines {
		got = append(got, fmt.Sprintf("%v %v|%v|%v|%v|%v", line["level"], line["method"], line["route"], line["status"], line["error"], line["sub"]))
		if ms, ok := line["duration_ms"].(float64); !ok || ms < 0 || ms > 60_000 {
			t.Errorf("duration_ms is %v", line["duration_ms"])
		}
		if s, ok := line["time"].(string); !ok || !strings.HasPrefix(s, "20") {
			t.Errorf("time is %v", line["time"])
		}
		if s, ok := line["request_id"].(string); !ok || s == "" || ids[s] {
			t.Errorf("request_id is %v", line["request_id"])
		}
		ids[line["request_id"]] = true
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{"secret=x", token, "Basil"} {
		if strings.Contains(p.Stdout.String(), text) {
			t.Errorf("the log holds %q", text)
		}
	}
}

// requestLines returns the lines of the log that are of requests.
func requestLines(t *testing.T, log string) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line["msg"] == "request" {
			lines = append(lines, line)
		}
	}
	return lines
}

// The least level to log is a setting.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ("LOG_LEVEL=error"), t.TempDir())
	list(t, newClient(p.target()), newSubject())
	p.Stop(t)
	if log := p.Stdout.String(); log != "" {
		t.Errorf("the log has\n%s", log)
	}
}

// At start the program says, to a person, all that is needed to begin.
func TestBanner(t *testing.T) {
	t.Parallel()
	p := start(t, program.Environ(), t.TempDir())
	p.Stop(t)
	text := p.Stderr.String()
	for _, want := range []string{"listening on " + p.Base + "\n", p.Data, "curl ", p.Base + "/oauth2/token"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if log := p.Stdout.String(); log != "" {
		t.Errorf("the log has\n%s", log)
	}
}
