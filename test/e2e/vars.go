package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	cryptorand "crypto/rand"
)

// vars are the variables of one script.
type vars struct {
	tb       testing.TB
	target   Target
	firstID  int64
	subjects map[string]string // by the user's name
	used     map[string]bool   // the users that a token was made for
	tokens   map[string]string // by the request for it
	values   map[string]string // $each, and what was taken from answers
}

func newVars(tb testing.TB, target Target) *vars {
	return &vars{
		tb:      tb,
		target:  target,
		firstID: randomID(),
		subjects: map[string]string{
			"alice": "alice-" + cryptorand.Text(), "bob": "bob-" + cryptorand.Text(), "carol": "carol-" + cryptorand.Text(),
		},
		used:   map[string]bool{},
		tokens: map[string]string{},
		values: map[string]string{},
	}
}

// randomID returns an id of 18 digits that nothing else is likely to have, nor
// the 99 after it.
func randomID() int64 { return 1e17 + rand.Int64N(9e17-100) }

var (
	variable = regexp.MustCompile(`\$(\$|_|[a-z][a-z0-9]*|\{[^${}]*\}|)`)
	idName   = regexp.MustCompile(`^id[0-9]{0,2}$`)
	fill     = regexp.MustCompile(`\$\{fill ([0-9]+)\}`)
)

// expand returns s with the values of its variables.
func (v *vars) expand(s string) (string, error) {
	var failed error
	s = variable.ReplaceAllStringFunc(s, func(name string) string {
		value, ok, err := v.lookup(name[1:])
		if err == nil && !ok {
			err = fmt.Errorf("%s has no value yet", name)
		}
		if err != nil {
			failed = err
		}
		return value
	})
	return s, failed
}

// expandBody is expand of a whole body, which may be filled up.
func (v *vars) expandBody(s string) (string, error) {
	m := fill.FindStringSubmatchIndex(s)
	if m == nil {
		return v.expand(s)
	}
	size, err := strconv.Atoi(s[m[2]:m[3]])
	if err != nil {
		return "", err
	}
	before, err := v.expand(s[:m[0]])
	if err != nil {
		return "", err
	}
	after, err := v.expand(s[m[1]:])
	if err != nil {
		return "", err
	}
	missing := size - len(before) - len(after)
	if missing < 0 {
		return "", fmt.Errorf("the body has more than %d bytes without ${fill}", size)
	}
	return before + strings.Repeat("x", missing) + after, nil
}

// match compares what came with want, and remembers what want's variables
// without a value stand for.
func (v *vars) match(want, got string) error {
	var names []string
	pattern, end := `^`, 0
	for _, m := range variable.FindAllStringIndex(want, -1) {
		pattern += regexp.QuoteMeta(want[end:m[0]])
		end = m[1]
		name := want[m[0]+1 : m[1]]
		value, ok, err := v.lookup(name)
		switch {
		case err != nil:
			return err
		case name == "_":
			pattern += `(?s:.*)`
		case ok:
			pattern += regexp.QuoteMeta(value)
		default:
			pattern += `(.+?)`
			names = append(names, name)
		}
	}
	groups := regexp.MustCompile(pattern + regexp.QuoteMeta(want[end:]) + `$`).FindStringSubmatch(got)
	if groups == nil {
		return fmt.Errorf("it is not %q", want)
	}
	found := map[string]string{}
	for i, name := range names {
		if first, ok := found[name]; ok && first != groups[i+1] {
			return fmt.Errorf("$%s is both %q and %q", name, first, groups[i+1])
		}
		found[name] = groups[i+1]
	}
	maps.Copy(v.values, found)
	return nil
}

// lookup returns the value of a variable, if it has one so far.
func (v *vars) lookup(name string) (value string, ok bool, err error) {
	switch {
	case name == "":
		return "", false, errors.New("a $ stands before no name: write $$ for a dollar")
	case name == "$":
		return "$", true, nil
	case name[0] == '{':
		value, err = v.call(strings.Fields(strings.Trim(name, "{}")))
		return value, true, err
	case idName.MatchString(name):
		n, _ := strconv.Atoi(name[len("id"):])
		return strconv.FormatInt(v.firstID+int64(n), 10), true, nil
	case name == "new":
		return strconv.FormatInt(randomID(), 10), true, nil
	case v.subjects[name] != "":
		value, err = v.token(name, TokenRequest{})
		return value, true, err
	}
	value, ok = v.values[name]
	return value, ok, nil
}

// call returns the value of a variable in braces.
func (v *vars) call(words []string) (string, error) {
	name, args := "", []string(nil)
	if len(words) > 0 {
		name, args = words[0], words[1:]
	}
	switch {
	case name == "repeat" && len(args) == 2:
		n, err := strconv.ParseUint(args[1], 10, 24)
		return strings.Repeat(args[0], int(n)), err
	case name == "bytes":
		b, err := hex.DecodeString(strings.Join(args, ""))
		return string(b), err
	case name == "forged" && len(args) == 1:
		return v.forged(args[0])
	case name == "expired" && len(args) == 1:
		return v.token(args[0], TokenRequest{Expired: true})
	case name == "scoped" && len(args) > 1:
		return v.token(args[0], TokenRequest{Scopes: args[1:]})
	}
	return "", fmt.Errorf("${%s} is unknown, or has the wrong number of words", strings.Join(words, " "))
}

// token returns a token of the user; the same one for the same request.
func (v *vars) token(user string, r TokenRequest) (string, error) {
	subject, ok := v.subjects[user]
	if !ok {
		return "", fmt.Errorf("no user is called %s", user)
	}
	v.used[user] = true
	r.Subject = subject
	key := fmt.Sprint(r)
	if v.tokens[key] == "" {
		v.tokens[key] = v.target.Token(v.tb, r)
	}
	return v.tokens[key], nil
}

// forged returns the token of the user with the signature of another token.
func (v *vars) forged(user string) (string, error) {
	token, err := v.token(user, TokenRequest{})
	if err != nil {
		return "", err
	}
	other := v.target.Token(v.tb, TokenRequest{Subject: "mallory-" + cryptorand.Text()})
	return token[:strings.LastIndexByte(token, '.')] + other[strings.LastIndexByte(other, '.'):], nil
}

// users returns the names of the users that a token was made for.
func (v *vars) users() []string { return slices.Sorted(maps.Keys(v.used)) }
