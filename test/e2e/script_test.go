package e2e

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// These are tests of the suite itself: a suite that misses every fault passes,
// too.

func TestParseScript(t *testing.T) {
	const text = `# A title
# of two lines.
> POST /plants
> Authorization: Bearer $alice
>
> one
>
> two
< 200
< Link: x
<! Location
<
< body
| a
|

# No title, since an empty line follows.

> GET /
< 404
<
`
	got, err := parseScript("x", text)
	if err != nil {
		t.Fatal(err)
	}
	want := []exchange{
		{
			line:  3,
			title: "A title of two lines.",
			sent:  message{start: "POST /plants", headers: []string{"Authorization: Bearer $alice"}, body: []string{"one", "", "two"}, hasBody: true},
			want:  message{start: "200", headers: []string{"Link: x"}, absent: []string{"Location"}, body: []string{"body"}, hasBody: true},
			rows:  []string{"a", ""},
		},
		{
			line: 19,
			sent: message{start: "GET /"},
			want: message{start: "404", hasBody: true},
		},
	}
	if !reflect.DeepEqual(got.exchanges, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got.exchanges, want)
	}
	for text, want := range map[string]string{
		"\n| a":           "x.txt:2: no request",
		"> GET /":         "x.txt:1: no answer",
		"> GET /\nGET /":  "x.txt:2: a line must start with",
		"> GET /\n> body": "x.txt:2: \"body\" is not a header",
	} {
		if _, err := parseScript("x", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", text, err, want)
		}
	}
}

// runScript returns the first error of a script.
func runScript(t *testing.T, c *client, text string) error {
	t.Helper()
	s, err := parseScript("x", text)
	if err != nil {
		t.Fatal(err)
	}
	v := newVars(t, c.Target)
	v.firstID = 100
	for _, x := range s.exchanges {
		if err := x.run(t, c, v, c.Lag); err != nil {
			return err
		}
	}
	return nil
}

// A request is sent exactly as the script has it.
func TestSend(t *testing.T) {
	var got string
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var headers []string
		for name, values := range r.Header {
			headers = append(headers, fmt.Sprintf("%s=%q", name, values))
		}
		slices.Sort(headers)
		got = fmt.Sprint(r.Method, " ", r.RequestURI, " ", headers, " ", r.TransferEncoding, " ", r.ContentLength, " ", string(body))
		respond(204, "")(w)
	})
	for text, want := range map[string]string{
		"> get //plants?a=%zz;b&c":                         `get //plants?a=%zz;b&c [] [] 0 `,
		"> DELETE /plants/1%2F2/../%41":                    `DELETE /plants/1%2F2/../%41 [] [] 0 `,
		"> OPTIONS *":                                      `OPTIONS * [] [] 0 `,
		"> POST /\n> A: 1\n> a:  2\n> B:\n>\n> a\n>\n>  b": `POST / [A=["1" "2"] B=[""] Content-Length=["5"]] [] 5 ` + "a\n\n b",
		"> POST /\n> Transfer-Encoding: chunked\n>\n> a":   `POST / [] [chunked] -1 a`,
		"> POST /$id/$id2\n> X: $$1\n>\n> ${repeat ab 2}":  `POST /100/102 [Content-Length=["4"] X=["$1"]] [] 4 abab`,
		"> POST /\n>\n> <${fill 9}>${bytes c3 28}":         `POST / [Content-Length=["9"]] [] 9 <xxxxx>` + "\xc3(",
		"> GET /\n> A: $alice\n> B: ${forged bob}":         `GET / [A=["alice[].false.signature"] B=["bob[].false.Aignature"]] [] 0 `,
		"> GET /\n> A: ${scoped alice a b}":                `GET / [A=["alice[a b].false.signature"]] [] 0 `,
	} {
		if err := runScript(t, c, text+"\n< 204"); err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got != want {
			t.Errorf("%q was sent as\n%s, want\n%s", text, got, want)
		}
	}
	for _, text := range []string{
		"> GET /$unset", "> GET /\n> A: $unset", "> GET /\n>\n> $unset", "> GET /$", "> GET /${repeat a}", "> GET /${repeat a -1}",
		"> GET /${nonsense}", "> GET /${}", "> GET /${bytes x}", "> GET /${expired nobody}", "> GET /${scoped alice}",
		"> GET /\n> Content-Length: 1", "> GET /\n>\n> too long${fill 3}", "> GET /${repeat ${bytes 20} 2}",
	} {
		if err := runScript(t, c, text+"\n< 204"); err == nil {
			t.Errorf("%q was sent as\n%s", text, got)
		}
	}
}

func TestCompare(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, _ *http.Request) { valid(w) })
	for _, test := range []struct{ want, err string }{
		{"< 200", ""},
		{"< 200\n<! Y\n< X: 1\n< X: 2", ""},
		{"< 200\n< x:1\n< x:2\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}", ""},
		{"< 2$_\n< X: $_\n<\n< {$_}", ""},
		{"< 200\n< Cache-Control: no-$a\n<\n< $_\"b\":\"$b\"}", ""},
		{"< 200\n< X: 1", "X: want"},
		{"< 200\n<! X", "X is present"},
		{"< 200\n<", "body: want"},
		{"< 200\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}\n<", "body: want"},
		{"< 200\n<\n< {\"a\":[1],", "body: want"},
		{"< 200\n<\n< {\"a\":[$n],\n<  \"b\":\"$n\"}", "twice"},
		{"< 200\n< X: $\n", "write $$"},
	} {
		checkErr(t, test.want, runScript(t, c, "> GET /\n"+test.want), test.err)
	}
}

// A variable keeps the value from the answer where it first occurs.
func TestCapture(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", r.URL.RawQuery)
		respond(204, "")(w)
	})
	const first = "> GET /?cursor=one\n< 204\n< Link: cursor=$next\n"
	for script, want := range map[string]string{
		first + "> GET /?$next\n< 204\n< Link: one\n> GET /?one\n< 204\n< Link: $next\n": "",
		first + "> GET /?cursor=two\n< 204\n< Link: cursor=$next\n":                      "Link: want",
		"> GET /?a=&b=1\n< 204\n< Link: a=$x&b=1\n":                                      "Link: want",
	} {
		checkErr(t, script, runScript(t, c, script), want)
	}
}

// An exception for an exchange, by its comment or its row, makes it fail unless
// it fails, and has no effect on others.
func TestExceptions(t *testing.T) {
	const text = "# Found.\n> GET /a\n< 200\n\n# Not found.\n> GET $each\n< 404\n| /b\n| /c\n"
	s, err := parseScript("x", text)
	if err != nil {
		t.Fatal(err)
	}
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/c" { // the wrong way round
			valid(w)
			return
		}
		respond(404, "{\"error\":40400,\"message\":\"x\"}\n")(w)
	})
	for exception, failed := range map[string][]string{ // the errors of the three exchanges
		"x: other":      {"status", "", "status"},
		"x: Found.":     {"", "", "status"},
		"x: /c":         {"status", "", ""},
		"x: /b":         {"status", "should be removed: why", "status"},
		"x: Not found.": {"status", "should be removed: why", ""},
	} {
		c.Exceptions = map[string]string{exception: "why"}
		v := newVars(t, c.Target)
		for i, row := range []string{"", "/b", "/c"} {
			checkErr(t, exception+row, s.try(t, c, v, &s.exchanges[min(i, 1)], row), failed[i])
		}
	}
}

// Lists that lag are requested again, and so are deletes that should find nothing.
func TestRepeats(t *testing.T) {
	answers := map[string][]int{"GET": {404, 200}, "DELETE": {204, 404}, "POST": {404, 204}}
	for method, statuses := range answers {
		calls := 0
		c := stub(t, func(w http.ResponseWriter, _ *http.Request) {
			body := map[int]string{200: "[]\n", 404: `{"error":40400,"message":"x"}` + "\n"}
			respond(statuses[calls], body[statuses[calls]])(w)
			calls++
		})
		c.Lag = time.Minute
		err := runScript(t, c, fmt.Sprintf("> %s /\n< %d", method, statuses[1]))
		if repeats := method != "POST"; (err == nil) != repeats || (calls == 2) != repeats {
			t.Errorf("%s: %d calls, %v", method, calls, err)
		}
	}
}

// Where users are shared, cleaning up waits for plants that appear late.
func TestDeleteAllOfLaggingList(t *testing.T) {
	start, deleted := time.Now(), false
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "DELETE":
			deleted = true
			respond(204, "")(w)
		case !deleted && time.Since(start) > 200*time.Millisecond:
			respond(200, `[{"id":1,"name":"late"}]`+"\n")(w)
		default:
			respond(200, "[]\n")(w)
		}
	})
	c.Subjects = []string{"only"}
	if err := deleteAll(t, c, "token"); err != nil || !deleted {
		t.Errorf("the late plant was deleted: %t, %v", deleted, err)
	}
}
