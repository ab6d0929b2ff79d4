package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// run runs the script. It continues after a wrong answer, since most exchanges
// don't depend on others.
func (s script) run(t *testing.T, c *client) {
	v := newVars(t, c.Target)
	s.requestTokens(v)
	defer sweep(t, c, v)
	for _, x := range s.exchanges {
		rows := x.rows
		if rows == nil {
			rows = []string{""}
		}
		for _, row := range rows {
			if err := s.try(t, c, v, &x, row); err != nil {
				t.Errorf("%s:%d: %s %s\n%v", s.path(), x.line, x.title, row, err)
			}
		}
	}
}

// requestTokens requests all tokens that the script uses, so that a script is
// skipped before it sends anything if the target can't provide one of them.
func (s script) requestTokens(v *vars) {
	for _, x := range s.exchanges {
		for _, text := range slices.Concat([]string{x.sent.start}, x.sent.headers, x.rows) {
			v.expand(text) // errors are reported when it is sent
		}
	}
}

// try runs an exchange with a row as $each. It must fail if the target has an
// exception for it.
func (s script) try(t *testing.T, c *client, v *vars, x *exchange, row string) error {
	each, err := v.expand(row)
	if err != nil {
		return err
	}
	v.values["each"] = each
	reason := cmp.Or(c.Exceptions[s.name+": "+row], c.Exceptions[s.name+": "+x.title])
	if reason == "" {
		return x.run(t, c, v, c.Lag)
	}
	if x.run(t, c, v, 0) == nil {
		return fmt.Errorf("passes in spite of an exception of the target, which should be removed: %s", reason)
	}
	return nil
}

// run sends the request and checks the answer. Until lag is over it repeats a
// list, and a delete that should find nothing: that may be 204 if an attempt to
// reach DynamoDB got no answer.
func (x *exchange) run(t *testing.T, c *client, v *vars, lag time.Duration) error {
	r, err := x.request(v)
	if err != nil {
		return err
	}
	if what := r.method + " " + x.want.start; what != "GET 200" && what != "DELETE 404" {
		lag = 0
	}
	return retry(lag, func() error {
		a, err := c.send(t, r)
		if err != nil {
			return err
		}
		if err := x.compare(v, a); err != nil {
			return fmt.Errorf("%w\n%s%s", err, r, a)
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
func (x *exchange) request(v *vars) (r request, err error) {
	start, err := v.expand(x.sent.start)
	if err != nil {
		return request{}, err
	}
	r.method, r.target, _ = strings.Cut(start, " ")
	for _, line := range x.sent.headers {
		if line, err = v.expand(line); err != nil {
			return request{}, err
		}
		r.headers = append(r.headers, line)
	}
	body, err := v.expand(strings.Join(x.sent.body, "\n"))
	r.body = []byte(body)
	return r, err
}

// compare returns an error if the answer isn't the expected one.
func (x *exchange) compare(v *vars, a answer) error {
	if err := v.match(x.want.start, strconv.Itoa(a.status)); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	for _, name := range x.want.absent {
		if len(a.header.Values(name)) > 0 {
			return fmt.Errorf("%s is present", name)
		}
	}
	lines := map[string][]string{}
	for _, line := range x.want.headers {
		name, value := splitHeader(line)
		lines[name] = append(lines[name], value)
	}
	for name, values := range lines {
		if err := v.match(strings.Join(values, "\n"), strings.Join(a.header.Values(name), "\n")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if !x.want.hasBody {
		return nil
	}
	want := strings.Join(append(x.want.body, ""), "\n")
	if err := v.match(want, string(a.body)); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	return nil
}

// sweep deletes the plants of the script's users.
func sweep(t *testing.T, c *client, v *vars) {
	for user := range v.used {
		token, _ := v.token(user, TokenRequest{}) // a known user
		if err := deleteAll(t, c, token); err != nil {
			t.Errorf("%s's plants could not be removed: %v", user, err)
		}
	}
}
