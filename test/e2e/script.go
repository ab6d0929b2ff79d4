package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A script is a file of testdata, whose README describes the format.
type script struct {
	name      string // of the file, without .txt
	exchanges []exchange
}

// An exchange is a request and the expected answer.
type exchange struct {
	line       int    // of its start
	title      string // the comment above it
	sent, want message
	absent     []string // names of headers
	rows       []string // at least one
}

// A message is a request or an answer with its variables.
type message struct {
	start   string   // method and path, or status
	headers []string // names and values
	body    string
	hasBody bool // there is an empty line after the headers
}

// scriptLine matches a line: what starts it, and the text after a space.
var scriptLine = regexp.MustCompile(`^(#|>|<!?|\|)(?:$| (.*))`)

// readScript reads testdata/name.txt.
func readScript(t *testing.T, name string) script {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return parseScript(t, name, string(text))
}

// parseScript parses the text of testdata/name.txt.
func parseScript(t *testing.T, name, text string) script {
	s := script{name: name}
	line := 1
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		x, err := parseExchange(block)
		if err != nil {
			t.Fatalf("testdata/%s.txt:%d: %v", name, line, err)
		}
		x.line = line
		s.exchanges = append(s.exchanges, x)
		line += strings.Count(block, "\n") + 2
	}
	return s
}

func parseExchange(block string) (x exchange, err error) {
	lines := map[string]string{} // by what starts them
	for line := range strings.SplitSeq(block, "\n") {
		m := scriptLine.FindStringSubmatch(line)
		if m == nil {
			return x, fmt.Errorf("%q must start with # or > or < or <! or |, and a space", line)
		}
		lines[m[1]] += m[2] + "\n"
	}
	x.title = strings.Join(strings.Fields(lines["#"]), " ")
	x.absent = strings.Fields(lines["<!"])
	x.rows = strings.Split(strings.TrimSuffix(lines["|"], "\n"), "\n")
	if x.sent, err = parseMessage(lines[">"]); err != nil {
		return x, err
	}
	x.want, err = parseMessage(lines["<"])
	return x, err
}

func parseMessage(lines string) (m message, err error) {
	if lines == "" {
		return m, errors.New("an exchange needs a request and an answer")
	}
	lines, m.body, m.hasBody = strings.Cut(lines, "\n\n")
	m.start, lines, _ = strings.Cut(lines, "\n")
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return m, fmt.Errorf("%q is not a header: put an empty line before a body, and between exchanges", line)
		}
		m.headers = append(m.headers, name, strings.TrimSpace(value))
	}
	return m, nil
}

// run runs the script. It continues after a wrong answer, since most exchanges
// don't depend on others.
func (s script) run(t *testing.T, c *client) {
	v := newVars(t, c)
	for _, x := range s.exchanges {
		for _, row := range x.rows {
			v.where = fmt.Sprintf("testdata/%s.txt:%d: %s %s", s.name, x.line, x.title, row)
			v.values["each"] = v.expand(row)
			if err := s.try(t, v, &x, row); err != nil {
				t.Errorf("%s\n%v", v.where, err)
			}
		}
	}
}

// try runs an exchange with a row. It must fail if the front has an exception for
// it, or if it is one of the script must-fail.
func (s script) try(t *testing.T, v *vars, x *exchange, row string) error {
	reason := cmp.Or(v.client.Exceptions[s.name+": "+row], v.client.Exceptions[s.name+": "+x.title])
	if s.name == "must-fail" {
		reason = "it expects what is wrong"
	}
	if v.client.Gateway && strings.HasPrefix(v.expand(x.sent.start), http.MethodOptions+" ") {
		return nil
	}
	if reason == "" {
		return x.run(t, v, v.client.Lag)
	}
	if v.client.Gateway && s.name != "must-fail" {
		return nil
	}
	if x.run(t, v, 0) == nil {
		return fmt.Errorf("passes, but should fail: %s", reason)
	}
	return nil
}

// run sends the request and checks the answer. Until lag is over it repeats a
// list, and a delete that should find nothing: that may be 204 if an attempt to
// reach DynamoDB got no answer.
func (x *exchange) run(t *testing.T, v *vars, lag time.Duration) error {
	r := x.request(v)
	if what := r.Method + " " + x.want.start; what != "GET 200" && what != "DELETE 404" {
		lag = 0
	}
	return retry(lag, func() error {
		a, err := v.client.send(t, r)
		if err != nil {
			return err
		}
		if err := x.compare(v, a); err != nil {
			return fmt.Errorf("%w\n%s", err, a)
		}
		return nil
	})
}

// retry calls f until it returns nil or lag is over.
func retry(lag time.Duration, f func() error) error {
	for deadline := time.Now().Add(lag); ; time.Sleep(50 * time.Millisecond) {
		if err := f(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// request returns the request to send.
func (x *exchange) request(v *vars) (r request) {
	r.Method, r.Target, _ = strings.Cut(v.expand(x.sent.start), " ")
	for _, text := range x.sent.headers {
		r.Header = append(r.Header, v.expand(text))
	}
	r.Body = v.expand(strings.TrimSuffix(x.sent.body, "\n"))
	return r
}

// compare returns an error if the answer isn't the expected one.
func (x *exchange) compare(v *vars, a answer) error {
	if err := v.match(x.want.start, strconv.Itoa(a.status)); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	for _, name := range x.absent {
		if len(a.header.Values(name)) > 0 {
			return fmt.Errorf("%s is present", name)
		}
	}
	for header := range slices.Chunk(x.want.headers, 2) {
		if err := v.match(header[1], strings.Join(a.header.Values(header[0]), "\n")); err != nil {
			return fmt.Errorf("%s: %w", header[0], err)
		}
	}
	if x.want.hasBody {
		if err := v.match(x.want.body, a.body); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	}
	return nil
}
