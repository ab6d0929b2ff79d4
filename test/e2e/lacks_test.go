package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A single exchange can be lacking, by its comment or by the line of its table;
// then it must fail. All others are not touched by that.
func TestLacksExchange(t *testing.T) {
	s, err := parseScript("x", strings.Join([]string{
		"# Found.", "> GET /a", "< 200", "",
		"# None of these.", "> GET $each", "< 404", "| /b", "| /c", "",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.exchangeNames(), []string{"x: Found.", "x: None of these.", "x: /b", "x: /c"}; !slices.Equal(got, want) {
		t.Errorf("the exchanges are %q, want %q", got, want)
	}
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/c" { // what is wrong
			good(w)
			return
		}
		fault(404, "{\"error\":40400,\"message\":\"x\"}\n")(w)
	})
	for _, test := range []struct {
		lacks  string
		failed []string // what is reported of the exchanges, in order
	}{
		{"x: other", []string{"the status", "", "the status"}},
		{"x: Found.", []string{"", "", "the status"}},
		{"x: /c", []string{"the status", "", ""}},
		{"x: /b", []string{"the status", "but it passes; the reason was: why", "the status"}},
		{"x: None of these.", []string{"the status", "but it passes; the reason was: why", ""}},
	} {
		c.Lacks = map[string]string{test.lacks: "why"}
		v := newVars(t, c.Target)
		for i, row := range []struct {
			x     *exchange
			value string
		}{{&s.exchanges[0], ""}, {&s.exchanges[1], "/b"}, {&s.exchanges[1], "/c"}} {
			v.values["each"] = row.value
			err := s.try(t, c, v, row.x, row.value)
			if want := test.failed[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, exchange %d: %v, want %q", test.lacks, i, err, want)
			}
		}
	}
}
