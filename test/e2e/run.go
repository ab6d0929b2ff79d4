package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// run carries out the script. After an answer that isn't right it goes on,
// since most exchanges don't depend on others.
func (s script) run(t *testing.T, c *client) {
	v := newVars(t, c.Target)
	defer sweep(t, c, v)
	for _, x := range s.exchanges {
		each := x.each
		if each == nil {
			each = []string{""}
		}
		for _, value := range each {
			text, err := v.expand(value)
			if err == nil {
				v.values["each"] = text
				err = s.try(t, c, v, &x, value)
			}
			if err != nil && x.each != nil {
				err = fmt.Errorf("with %q as $each: %w", value, err)
			}
			if err != nil {
				t.Errorf("%s:%d: %s\n%v", s.path(), x.line, x.title, err)
			}
		}
	}
}

// try carries out an exchange, with value as $each. One that the target is said
// to lack must fail.
func (s script) try(t *testing.T, c *client, v *vars, x *exchange, value string) error {
	reason := cmp.Or(c.Lacks[s.name+": "+value], c.Lacks[s.name+": "+x.title])
	if reason == "" {
		return x.run(t, c, v)
	}
	impatient := *c
	impatient.Lag = 0
	if x.run(t, &impatient, v) == nil {
		return fmt.Errorf("the target is said to lack this, but it passes; the reason was: %s", reason)
	}
	return nil
}

// run sends the request and checks the answer. A list may lag, so it is asked
// for until it is right or no longer allowed not to be.
func (x *exchange) run(t *testing.T, c *client, v *vars) error {
	r, err := x.request(v)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(c.Lag); ; time.Sleep(50 * time.Millisecond) {
		a, err := c.send(t, r)
		if err != nil {
			return err
		}
		if err = x.compare(v, r, a); err == nil {
			return nil
		}
		if r.method != "GET" || time.Now().After(deadline) {
			return fmt.Errorf("%w\n%s%s", err, r, a)
		}
	}
}

// request returns what is to be sent.
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
	body, err := v.expandBody(strings.Join(x.sent.body, "\n"))
	r.body = []byte(body)
	return r, err
}

// compare says in what the answer differs from what must come back.
func (x *exchange) compare(v *vars, r request, a answer) error {
	if err := v.match(x.want.start, strconv.Itoa(a.status)); err != nil {
		return fmt.Errorf("the status: %w", err)
	}
	for _, name := range x.want.absent {
		if values := a.header.Values(name); len(values) > 0 {
			return fmt.Errorf("%s is there", name)
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
	want := ""
	for _, line := range x.want.body {
		want += line + "\n"
	}
	if err := v.match(want, string(a.body)); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// sweep deletes the plants that the script's users have left. The target may
// be one that others use, too.
func sweep(t *testing.T, c *client, v *vars) {
	for _, user := range v.users() {
		token, err := v.token(user, TokenRequest{})
		if err == nil {
			err = deleteAll(t, c, token)
		}
		if err != nil {
			t.Errorf("%s's plants could not be removed: %v", user, err)
		}
	}
}

// deleteAll deletes the plants of the token's user.
func deleteAll(t *testing.T, c *client, token string) error {
	plants, err := walk(t, c, token, "?include=id")
	if err != nil {
		return err
	}
	var ids []int64
	for _, p := range plants {
		ids = append(ids, *p.ID)
	}
	return parallel(slices.Values(ids), func(id int64) error {
		a, err := c.send(t, request{method: "DELETE", target: "/plants/" + strconv.FormatInt(id, 10), headers: bearer(token)})
		if err == nil && a.status != 204 && a.status != 404 { // a list may show what is gone
			err = errors.New(a.String())
		}
		return err
	})
}
