package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
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
	subjects []string          // of alice, bob and so on
	used     map[string]bool   // users with a token
	tokens   map[string]string // by request
	values   map[string]string // $each, and values taken from answers
}

// users are the users of a script. Their subjects are those in
// [Target.Subjects], in this order.
var users = []string{"alice", "bob"}

func newVars(tb testing.TB, target Target) *vars {
	subjects := target.Subjects
	for i := 0; target.Subjects == nil && i < len(users); i++ {
		subjects = append(subjects, users[i]+"-"+cryptorand.Text())
	}
	return &vars{
		tb: tb, target: target, firstID: randomID(),
		subjects: subjects, used: map[string]bool{}, tokens: map[string]string{}, values: map[string]string{},
	}
}

// randomID returns an id of 18 digits. It and the 99 ids after it are unlikely
// to be in use.
func randomID() int64 { return 1e17 + rand.Int64N(9e17-100) }

var (
	variable = regexp.MustCompile(`\$(\$|_|[a-z][a-z0-9]*|\{[^${}]*\}|)`)
	idName   = regexp.MustCompile(`^id[0-9]{0,2}$`)
	fill     = regexp.MustCompile(`\$\{fill ([0-9]+)\}`)
)

// expand replaces the variables in s by their values.
func (v *vars) expand(s string) (string, error) {
	if m := fill.FindStringSubmatch(s); m != nil {
		rest, err := v.expand(strings.Replace(s, m[0], "", 1))
		size, _ := strconv.Atoi(m[1])
		if missing := size - len(rest); missing >= 0 && err == nil {
			return v.expand(strings.Replace(s, m[0], strings.Repeat("x", missing), 1))
		}
		return "", fmt.Errorf("%s beside %d other bytes: %v", m[0], len(rest), err)
	}
	var failed error
	s = variable.ReplaceAllStringFunc(s, func(name string) string {
		value, ok, err := v.lookup(name[1:])
		if err == nil && !ok {
			err = fmt.Errorf("%s has no value yet", name)
		}
		failed = errors.Join(failed, err)
		return value
	})
	return s, failed
}

// match compares got with want. Variables of want that have no value yet take
// theirs from got.
func (v *vars) match(want, got string) error {
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
		case strings.Contains(pattern, `(?P<`+name+`>`):
			return fmt.Errorf("$%s occurs twice before it has a value", name)
		default:
			pattern += `(?P<` + name + `>.+?)`
		}
	}
	re := regexp.MustCompile(pattern + regexp.QuoteMeta(want[end:]) + `$`)
	groups := re.FindStringSubmatch(got)
	if groups == nil {
		return fmt.Errorf("want %q", want)
	}
	for i, value := range groups[1:] {
		v.values[re.SubexpNames()[i+1]] = value
	}
	return nil
}

// lookup returns the value of a variable, if it has one yet.
func (v *vars) lookup(name string) (value string, ok bool, err error) {
	switch {
	case name == "":
		return "", false, errors.New("$ without a name: write $$ for a dollar sign")
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
	case slices.Contains(users, name):
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
	case name == "percent" && len(args) == 1:
		return "%" + strings.ReplaceAll(fmt.Sprintf("% x", args[0]), " ", "%"), nil
	case name == "bytes":
		b, err := hex.DecodeString(strings.Join(args, ""))
		return string(b), err
	case name == "forged" && len(args) == 1:
		token, err := v.token(args[0], TokenRequest{})
		return forge(token), err
	case name == "expired" && len(args) == 1:
		return v.token(args[0], TokenRequest{Expired: true})
	case name == "scoped" && len(args) > 1:
		return v.token(args[0], TokenRequest{Scopes: args[1:]})
	}
	return "", fmt.Errorf("${%s} is unknown or has the wrong number of arguments", strings.Join(words, " "))
}

// token returns a token of the user, the same for equal requests.
func (v *vars) token(user string, r TokenRequest) (string, error) {
	i := slices.Index(users, user)
	switch {
	case i < 0:
		return "", fmt.Errorf("unknown user %s", user)
	case i >= len(v.subjects):
		v.tb.Skipf("needs %d users, but the target has only %d", i+1, len(v.subjects))
	}
	r.Subject = v.subjects[i]
	key := fmt.Sprint(r)
	if v.tokens[key] == "" {
		v.tokens[key] = v.target.Token(v.tb, r)
	}
	v.used[user] = true
	return v.tokens[key], nil
}

// forge returns the token with another signature of the same length.
func forge(token string) string {
	i := strings.LastIndexByte(token, '.') + 1
	if i == len(token) {
		return token
	}
	first := "A"
	if token[i:i+1] == first {
		first = "B"
	}
	return token[:i] + first + token[i+1:]
}
