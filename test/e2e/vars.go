package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/test/openapi"
)

// vars are the variables of one script.
type vars struct {
	t        *testing.T
	client   *client
	where    string                  // the exchange, for errors
	subjects []string                // of alice, bob and so on
	tokens   map[TokenRequest]string // requested so far
	values   map[string]string       // $each, and values taken from answers
}

// userNames are the users of a script. Their subjects are those in
// [Target.Subjects], in this order.
var userNames = []string{"alice", "bob"}

func newVars(t *testing.T, c *client) *vars {
	v := &vars{t, c, "", c.Subjects, map[TokenRequest]string{}, map[string]string{"$": "$"}}
	if c.Subjects == nil {
		v.subjects = []string{newSubject(), newSubject()}
	} else {
		t.Cleanup(v.deleteAll)
	}
	id := randomID()
	v.values["id"] = fmt.Sprint(id)
	for n := range int64(10) {
		v.values[fmt.Sprint("id", n)] = fmt.Sprint(id + n)
	}
	return v
}

// newSubject returns the subject of a new user.
func newSubject() string { return "user-" + cryptorand.Text() }

// randomID returns an id of 18 digits. It and the ids after it are unlikely to be
// in use.
func randomID() int64 { return 1e17 + rand.Int64N(8e17) }

// The first two match variables that have no value yet, in a text and in a quoted one.
var (
	unset  = regexp.MustCompile(`\$\{\w+( [^}]*)?\}`)
	quoted = regexp.MustCompile(`\\\$\\\{(\w+)\\\}`)
	inner  = regexp.MustCompile(`\$\{(bytes|repeat)[^{}]*\}`) // which may be in an argument
	fill   = regexp.MustCompile(`\$\{fill ([0-9]+)\}`)
)

// expand replaces the variables in s by their values.
func (v *vars) expand(s string) string {
	s = v.replace(s)
	if m := fill.FindStringSubmatch(s); m != nil {
		size, _ := strconv.Atoi(m[1])
		s = strings.Replace(s, m[0], strings.Repeat("x", size-len(s)+len(m[0])), 1)
	}
	if m := unset.FindString(s); m != "" {
		v.t.Fatalf("%s\n%s has no value, or a wrong number of arguments", v.where, m)
	}
	return s
}

// match compares got with want. Variables of want that have no value yet take
// theirs from got.
func (v *vars) match(want, got string) error {
	pattern := quoted.ReplaceAllString(regexp.QuoteMeta(v.replace(want)), `(?P<$1>.+?)`)
	pattern = strings.ReplaceAll(pattern, `(?P<_>.+?)`, `(?s:.*)`)
	re := regexp.MustCompile("^" + pattern + "$")
	groups := re.FindStringSubmatch(got)
	if groups == nil {
		return fmt.Errorf("want %q", want)
	}
	for i, name := range re.SubexpNames()[1:] {
		if old, ok := v.values[name]; ok && old != groups[i+1] {
			return fmt.Errorf("want %q with one value of $%s", want, name)
		}
		v.values[name] = groups[i+1]
	}
	return nil
}

// replace replaces the variables in s by their values, and leaves those that have
// none as ${name}.
func (v *vars) replace(s string) string {
	s = inner.ReplaceAllStringFunc(s, func(text string) string { return os.Expand(text, v.value) })
	return os.Expand(s, v.value)
}

// value returns the value of ${text}, or that itself if it has none.
func (v *vars) value(text string) string {
	name, args, _ := strings.Cut(text, " ")
	if value, ok := v.values[name]; ok {
		return value
	}
	if slices.Contains(userNames, name) {
		return v.token(name, TokenRequest{})
	}
	switch args := strings.Fields(args); {
	case name == "valid":
		return v.valid(strings.TrimPrefix(text, "valid"))
	case name == "new":
		return fmt.Sprint(randomID())
	case name == "forged" && len(args) == 1:
		token := v.token(args[0], TokenRequest{})
		signature := token[strings.LastIndexByte(token, '.')+1:]
		return strings.TrimSuffix(token, signature) + strings.Repeat("A", len(signature))
	case name == "expired" && len(args) == 1:
		return v.token(args[0], TokenRequest{Expired: true})
	case name == "scoped" && len(args) > 1:
		return v.token(args[0], TokenRequest{Scopes: strings.Join(args[1:], " ")})
	case name == "repeat" && len(args) == 2:
		n, _ := strconv.Atoi(args[1])
		return strings.Repeat(args[0], n)
	case name == "bytes":
		b, _ := hex.DecodeString(strings.Join(args, ""))
		return string(b)
	}
	return "${" + text + "}" // fill too, until the size of the rest is known
}

// change matches the name of a member in the arguments of $valid.
var change = regexp.MustCompile(` (\w+)=`)

// valid returns the members of a valid plant in JSON, except its id. They are those of the
// document's first example, so that a script needs no change for a new field. Changes are
// members with other values, or with none if they are to be left out, such as
// ` name="Fern" tag=`.
func (v *vars) valid(changes string) string {
	body := openapi.With(plants.Create.Request("").Body, "id", "")
	at := append(change.FindAllStringSubmatchIndex(changes, -1), []int{len(changes)})
	for i, m := range at[:len(at)-1] {
		body = openapi.With(body, changes[m[2]:m[3]], v.replace(changes[m[1]:at[i+1][0]]))
	}
	return strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}")
}

// token returns a token of the user, the same for equal requests.
func (v *vars) token(name string, r TokenRequest) string {
	i := slices.Index(userNames, name)
	if i < 0 {
		v.t.Fatalf("%s\nunknown user %s", v.where, name)
	}
	if i >= len(v.subjects) {
		v.t.Skipf("needs %d users, but the target has only %d", i+1, len(v.subjects))
	}
	r.Subject = v.subjects[i]
	if v.tokens[r] == "" {
		v.tokens[r] = v.client.Token(v.t, r)
	}
	return v.tokens[r]
}

// user returns a client with a token of the user that allows everything.
func (v *vars) user(name string) *client {
	return v.client.as(v.token(name, TokenRequest{}))
}

// deleteAll deletes everything of the target's users, until a plant would have
// appeared in a list that lags.
func (v *vars) deleteAll() {
	for range 5 {
		for _, name := range userNames[:len(v.subjects)] {
			for _, r := range document.Resources {
				if r.List == nil || r.Delete == nil {
					continue
				}
				r := resource{r}
				elements, err := r.walk(v.t, v.user(name))
				for _, e := range elements {
					_, failed := r.remove(v.t, v.user(name), e.id(), 204, 404) // 404: the list was out of date
					err = errors.Join(err, failed)
				}
				if err != nil {
					v.t.Errorf("%s's plants could not be removed: %v", name, err)
				}
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
