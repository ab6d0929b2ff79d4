package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// These tests are of the suite itself: a suite that sees no fault passes, too.

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
			each:  []string{"a", ""},
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
		"< 200":                 "x.txt:1: no request",
		"\n| a":                 "x.txt:2: no request",
		"> GET /":               "x.txt:1: no answer",
		"> GET /\nGET /":        "x.txt:2: the line starts with",
		"> GET /\n>X: y":        "x.txt:2: no space",
		"> GET /\n> body":       "x.txt:2: \"body\" is no header",
		"> GET /\n< 200\n< {}":  "x.txt:3: \"{}\" is no header",
		"> GET /\n< 200\n| \n+": "x.txt:4: the line starts with",
	} {
		if _, err := parseScript("x", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// stub returns a client of a server that answers with the handler.
func stub(t *testing.T, handler http.HandlerFunc) *client {
	server := httptest.NewUnstartedServer(handler)
	server.Config.DisableGeneralOptionsHandler = true
	server.Start()
	t.Cleanup(server.Close)
	token := func(_ testing.TB, r TokenRequest) string {
		user, _, _ := strings.Cut(r.Subject, "-")
		return fmt.Sprintf("%s.%v.%t", user, r.Scopes, r.Expired)
	}
	return newClient(Target{Base: server.URL, Token: token})
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
		if err := x.run(t, c, v); err != nil {
			return err
		}
	}
	return nil
}

// What is sent is what the script says, and nothing else.
func TestSentAsWritten(t *testing.T) {
	var got string
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var headers []string
		for name, values := range r.Header {
			headers = append(headers, fmt.Sprintf("%s=%q", name, values))
		}
		slices.Sort(headers)
		got = fmt.Sprint(r.Method, " ", r.RequestURI, " ", headers, " ", r.TransferEncoding, " ", r.ContentLength, " ", string(body))
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(204)
	})
	for text, want := range map[string]string{
		"> GET /plants":                 `GET /plants [] [] 0 `,
		"> get //plants?a=%zz;b&c":      `get //plants?a=%zz;b&c [] [] 0 `,
		"> DELETE /plants/1%2F2/../%41": `DELETE /plants/1%2F2/../%41 [] [] 0 `,
		"> OPTIONS *":                   `OPTIONS * [] [] 0 `,
		"> POST /":                      `POST / [Content-Length=["0"]] [] 0 `,
		"> POST /\n> A: 1\n> a:  2\n> B:\n>\n> a\n>\n>  b":   `POST / [A=["1" "2"] B=[""] Content-Length=["5"]] [] 5 ` + "a\n\n b",
		"> POST /\n> Transfer-Encoding: chunked\n>\n> a":     `POST / [] [chunked] -1 a`,
		"> POST /$id/$id2\n> X: $$1\n>\n> ${repeat ab 2}":    `POST /100/102 [Content-Length=["4"] X=["$1"]] [] 4 abab`,
		"> POST /\n>\n> <${fill 9}>${bytes c3 28}":           `POST / [Content-Length=["9"]] [] 9 <xxxxx>` + "\xc3(",
		"> GET /\n> A: $alice\n> B: $bob":                    `GET / [A=["alice.[].false"] B=["bob.[].false"]] [] 0 `,
		"> GET /\n> A: ${expired alice}\n> B: ${forged bob}": `GET / [A=["alice.[].true"] B=["bob.[].false"]] [] 0 `,
		"> GET /\n> A: ${scoped alice a b}":                  `GET / [A=["alice.[a b].false"]] [] 0 `,
	} {
		if err := runScript(t, c, text+"\n< 204"); err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got != want {
			t.Errorf("%q sent\n%s, want\n%s", text, got, want)
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

// good is an answer with which nothing is wrong.
func good(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	w.Header()["X"] = []string{"1", "2"}
	io.WriteString(w, "{\"a\":[1],\n \"b\":\"one\"}\n")
}

func TestCompare(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, _ *http.Request) { good(w) })
	for _, test := range []struct{ want, err string }{
		{"< 200", ""},
		{"< 200\n<! Y\n< X: 1\n< X: 2", ""},
		{"< 200\n< x:1\n< x:2\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}", ""},
		{"< 2$_\n< X: $_\n<\n< {$_}", ""},
		{"< 200\n< Cache-Control: no-$a\n<\n< $_\"b\":\"$b\"}", ""},
		{"< 201", "the status"},
		{"< 20", "the status"},
		{"< 200\n< X: 1", "X: it is not"},
		{"< 200\n< X: 2\n< X: 1", "X: it is not"},
		{"< 200\n< Y: 1", "Y: it is not"},
		{"< 200\n<! X", "X is there"},
		{"< 200\n<", "the body"},
		{"< 200\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}\n<", "the body"},
		{"< 200\n<\n< {\"a\":[1],", "the body"},
		{"< 200\n<\n< {.*}", "the body"},
		{"< 200\n<\n< {\"a\":[$n],\n<  \"b\":\"$n\"}", "$n is both"},
		{"< 200\n< X: $\n", "write $$"},
		{"< 200\n< X: ${nonsense}\n", "nonsense"},
	} {
		err := runScript(t, c, "> GET /\n"+test.want)
		if test.err == "" && err != nil {
			t.Errorf("%q: %v", test.want, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%q: %v, want %s", test.want, err, test.err)
		}
	}
}

// What a variable has taken from an answer it keeps, unless the answer was
// wrong in another respect.
func TestTakenFromAnswers(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Link", r.URL.RawQuery)
		w.WriteHeader(204)
	})
	const first = "> GET /?cursor=one\n< 204\n< Link: cursor=$next\n"
	if err := runScript(t, c, first+"> GET /?$next\n< 204\n< Link: one\n> GET /?one\n< 204\n< Link: $next\n"); err != nil {
		t.Error(err)
	}
	if err := runScript(t, c, first+"> GET /?cursor=two\n< 204\n< Link: cursor=$next\n"); err == nil {
		t.Error("a second answer was let through that differs from the first")
	}
	if err := runScript(t, c, "> GET /?a=&b=1\n< 204\n< Link: a=$x&b=1\n"); err == nil {
		t.Error("a variable took nothing")
	}
}

func TestAlwaysChecked(t *testing.T) {
	for _, test := range []struct {
		title, method string
		answer        func(http.ResponseWriter)
		want          string // the error, "" for none
	}{
		{"all right", "GET", good, ""},
		{"a fault, all right", "GET", fault(400, `{"error":40000,"message":"x"}`+"\n"), ""},
		{"a fault of HEAD", "HEAD", fault(400, ""), ""},
		{"no Cache-Control", "GET", func(w http.ResponseWriter) { w.WriteHeader(204) }, "Cache-Control"},
		{"another Cache-Control", "GET", func(w http.ResponseWriter) { w.Header().Set("Cache-Control", "no-cache"); w.WriteHeader(204) }, "Cache-Control"},
		{"plain text", "GET", func(w http.ResponseWriter) { w.Header().Set("Cache-Control", "no-store"); io.WriteString(w, "{}\n") }, "Content-Type"},
		{"type of nothing", "GET", func(w http.ResponseWriter) {
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(204)
		}, "Content-Type"},
		{"no end of line", "GET", fault(200, `{}`), "line break"},
		{"no JSON", "GET", fault(200, "{\n"), "JSON"},
		{"no JSON in a fault", "GET", fault(400, "Bad Request\n"), "JSON"},
		{"not an object", "GET", fault(400, "[]\n"), "unmarshal"},
		{"another member", "GET", fault(400, `{"error":40000,"message":"x","x":1}`+"\n"), "Error shape"},
		{"other members", "GET", fault(400, `{"Error":40000,"Message":"x"}`+"\n"), "Error shape"},
		{"no number", "GET", fault(400, `{"message":"x"}`+"\n"), "Error shape"},
		{"a number of another status", "GET", fault(400, `{"error":40400,"message":"x"}`+"\n"), "does not belong"},
		{"too large a number", "GET", fault(400, `{"error":4000000000,"message":"x"}`+"\n"), "int32"},
		{"no message", "GET", fault(400, `{"error":40000,"message":""}`+"\n"), "message is empty"},
		{"no challenge", "GET", fault(401, `{"error":40100,"message":"x"}`+"\n"), "WWW-Authenticate"},
		{"no challenge to HEAD", "HEAD", fault(401, ""), "WWW-Authenticate"},
		{"no methods", "GET", fault(405, `{"error":40500,"message":"x"}`+"\n"), "Allow"},
		{"no time", "GET", fault(503, `{"error":50300,"message":"x"}`+"\n"), "Retry-After"},
	} {
		t.Run(test.title, func(t *testing.T) {
			c := stub(t, func(w http.ResponseWriter, _ *http.Request) { test.answer(w) })
			seen := 0
			c.Observe = func(_ testing.TB, r *http.Request, _ []byte, a *http.Response, _ []byte) {
				if seen++; r.URL.Path != "/plants" || a == nil {
					t.Errorf("shown %v, %v", r.URL, a)
				}
			}
			_, err := c.send(t, request{method: test.method, target: "/plants?x"})
			if test.want == "" && (err != nil || seen != 1) {
				t.Errorf("%v; shown %d times", err, seen)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// fault answers with JSON that may be wrong.
func fault(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Request-Id", "x")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// Failures show everything but whole tokens.
func TestShown(t *testing.T) {
	c := stub(t, func(w http.ResponseWriter, _ *http.Request) { good(w) })
	err := runScript(t, c, "> GET /x\n> Authorization: Bearer eyJabcdefghijkl.mn_-op\n>\n> body\n< 404")
	const want = "the status: it is not \"404\"\n> GET /x\n> Authorization: Bearer eyJabcdefgh…\n>\n> body\n" +
		"< 200\n< Cache-Control: no-store\n< Content-Length: 22\n< Content-Type: application/json\n< Date: *\n< X: 1\n< X: 2\n<\n< {\"a\":[1],\n<  \"b\":\"one\"}\n"
	before, after, _ := strings.Cut(want, "*")
	if err == nil || !strings.HasPrefix(err.Error(), before) || !strings.HasSuffix(err.Error(), after) {
		t.Errorf("got\n%v", err)
	}
}
