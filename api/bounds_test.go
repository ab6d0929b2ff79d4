package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Whatever the document allows is accepted, and whatever it forbids is refused:
// at each bound of each field, and where JSON is more or less than it seems.
func TestBounds(t *testing.T) {
	s := newService(t, fault{})
	check := func(r sent, valid bool) {
		t.Helper()
		a := s.do(t, r)
		if a.err != nil {
			t.Errorf("%s %.99s %q %.99s: %v", r.method, r.target, r.header, r.body, a.err)
		}
		if (a.StatusCode < 300 || a.StatusCode == 404) != valid {
			t.Errorf("%s %.99s %q %.99s: %d %s", r.method, r.target, r.header, r.body, a.StatusCode, a.body)
		}
	}
	id := 0
	create := func(valid bool, format string, header ...string) {
		t.Helper()
		id++
		check(sent{"POST", "/plants", strings.ReplaceAll(format, "$", fmt.Sprint(id)), header}, valid)
	}

	long := strings.Repeat("\U0010ffff", 256)
	for value, valid := range map[string]bool{
		`"` + long + `"`: true, `"` + long + `x"`: false, `""`: false, `" "`: false, `" x"`: true, `"\u0000"`: true, `"\u001c"`: true, `"\u0085"`: false,
		`"\ufeff"`: true, `"\u180e"`: true, `"\u3000\t\n"`: false, `null`: false, `1`: false, `"\ud800"`: false, `"\ud83c\udf31"`: true, "\"\xff\"": false, "\"\t\"": false,
	} {
		create(valid, `{"id": $, "name": `+value+`}`)
	}
	for value, valid := range map[string]bool{
		`"` + long + `"`: true, `"` + long + `x"`: false, `""`: true, `" "`: true, `null`: false, `[]`: false, `"\udc00"`: false,
	} {
		create(valid, `{"id": $, "name": "x", "tag": `+value+`}`)
	}
	for value, valid := range map[string]bool{
		"-9223372036854775808": true, "9223372036854775807": true, "9223372036854775808": false, "-9223372036854775809": false, "9007199254740993": true,
		"0": true, "-0": false, "-1": true, "1.0": false, "1e3": false, "1E400": false, "01": false, "+1": false, `"1"`: false, "null": false, "true": false,
	} {
		create(valid, `{"id": `+value+`, "name": "x"}`)
		check(sent{method: "DELETE", target: "/plants/" + url.PathEscape(strings.Trim(value, `"`))}, valid || value == `"1"`)
	}
	for body, valid := range map[string]bool{
		`{"id": $, "name": "x", "more": {"a": [1.0, null]}}`: true, `{"id": $, "name": "x", "more": {"a": 1, "a": 2}}`: false,
		`{"id": $, "name": "x", "Name": 1}`: true, `{"id": $, "Name": "x"}`: false, `{"name": "x"}`: false,
		"\ufeff" + `{"id": $, "name": "x"}`: false, `{"id": $, "name": "x"} {}`: false, `{"id": $, "name": "x"}` + "\r\n\t ": true,
		`[]`: false, ``: false, `null`: false, `{"id": $, "name": "x",}`: false,
	} {
		create(valid, body)
	}
	fits := `{"id": 5000, "name": "x"}`
	fits += strings.Repeat(" ", 65536-len(fits))
	check(sent{"POST", "/plants", fits, nil}, true)
	check(sent{"POST", "/plants", strings.Replace(fits, "5000", "50001", 1), nil}, false)

	for _, h := range []struct {
		name, value string
		valid       bool
	}{
		{"Content-Type", "", true}, {"Content-Type", "application/json", true}, {"Content-Type", "Application/JSON; charset=\"UTF-8\"; x=y", true},
		{"Content-Type", "text/json", false}, {"Content-Type", "application/json; charset=utf-16", false}, {"Content-Type", "application/json, application/json", false},
		{"Content-Encoding", "", true}, {"Content-Encoding", "Identity", true}, {"Content-Encoding", "br", false},
		{"Idempotency-Key", "", false}, {"Idempotency-Key", strings.Repeat("~", 255), true}, {"Idempotency-Key", strings.Repeat("~", 256), false},
		{"Idempotency-Key", "a b", false}, {"Idempotency-Key", "\u00e9", false},
	} {
		create(h.valid, `{"id": $, "name": "x"}`, h.name, h.value)
	}
	create(false, `{"id": $, "name": "x"}`, "Idempotency-Key", "a", "Idempotency-Key", "a")
	for c := '!'; c <= '~'; c++ {
		create(c != ',', `{"id": $, "name": "x"}`, "Idempotency-Key", string(c))
	}
}

// The same for the query of a list.
func TestBoundsOfQueries(t *testing.T) {
	s := newService(t, fault{})
	s.do(t, sent{"POST", "/plants", `{"id": 1, "name": "x"}`, nil})
	check := func(query string, valid bool) {
		t.Helper()
		for _, method := range []string{"GET", "HEAD"} {
			a := s.do(t, sent{method: method, target: "/plants" + query})
			if a.err != nil || (a.StatusCode == 200) != valid {
				t.Errorf("%s %s: %d %s: %v", method, query, a.StatusCode, a.body, a.err)
			}
		}
	}
	for query, valid := range map[string]bool{
		"": true, "?": true, "?limit=1": true, "?limit=2147483647": true, "?limit=2147483648": false, "?limit=0": false, "?limit=-1": false, "?limit=": false, "?limit": false,
		"?limit=01": false, "?limit=%2B1": false, "?limit=1.0": false, "?limit=1e1": false, "?limit=1&limit=2": false, "?%6cimit=0": false,
		"?include=id": true, "?include=ID": false, "?include=": false, "?include=id&include=id": false, "?include=id&x=1&x=2": true,
		"?x=%zz": false, "?a;b": false, "?Limit=0": true,
		"?cursor=": false, "?cursor=AQAAAAAAAAAH&limit=1&include=id": true, "?cursor=AQAAAAAAAAAH&cursor=AQAAAAAAAAAH": false,
		"?cursor=AQAAAAAAAAA": false, "?cursor=AQAAAAAAAAAHA": false, "?cursor=AQAAAAAAAAAH%0A": false, "?cursor=AQAAAAA%0AAAH": false,
		"?cursor=AQAAAAAAAAA%2B": false, "?cursor=AQAAAAAAAAA_": true, "?cursor=AQAAAAAAAAA-": true, "?cursor=BQAAAAAAAAAH": false,
	} {
		check(query, valid)
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i, c := range alphabet {
		check("?cursor=A"+string(c)+"AAAAAAAAAH", 16 <= i && i < 32) // the version's last bits
	}
}

// The longest message there is has its place in the document.
func TestLongestMessage(t *testing.T) {
	s := newService(t, fault{})
	odd := url.PathEscape(strings.Repeat("\U000e0001", 65)) // ten characters each in a message
	for _, r := range []sent{{method: "DELETE", target: "/plants/" + odd}, {method: "GET", target: "/plants?limit=" + odd}} {
		if a := s.do(t, r); a.err != nil || a.StatusCode != 400 || len(a.body) < 700 {
			t.Errorf("%d %s: %v", a.StatusCode, a.body, a.err)
		}
	}
}
