package openapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

const (
	plant   = `{"id": 1, "name": "x"}`
	created = `{"name":"x"}`
	link    = `Link: <?cursor=AQAAAAAAAAAH>; rel="next"`
	noType  = "Content-Type:"
)

func failed(code string) string { return `{"error":` + code + `,"message":"x"}` }

// Each exchange has one fault. Package e2e has those without.
func TestValidate(t *testing.T) {
	d := openapi.Read()
	for _, test := range []struct {
		want    string // how the error begins
		request string // method, target and headers, one per line
		body    string
		status  int
		header  string // lines that add to the headers of all responses or, if empty, remove one
		answer  string
	}{
		{"undocumented", "POST /plants", plant, 201, "", created},
		{"undocumented", "GET /", "", 400, "", failed("40000")},
		{"undocumented", "POST /plants", plant, 200, "Location: /plants/1", created},
		{"undocumented", "POST /plants", plant, 200, link, created}, // a header of another operation
		{"undocumented", "GET /plants", "", 200, "Link: next", `[]`},
		{"undocumented", "GET /plants", "", 503, "Retry-After: 1.0", failed("50300")},
		{"undocumented", "GET /plants", "", 200, link + "\n" + link, `[]`},
		{"undocumented", "GET /plants", "", 200, "Cache-Control:", `[]`},
		{"undocumented", "GET /plants", "", 200, noType + "\nContent-Type: text/plain", `[]`},
		{"undocumented", "POST /plants", plant, 200, "", `{"tag":"x"}`},
		{"undocumented", "POST /plants", plant, 200, "", `{"name":"x","tag":null}`},
		{"undocumented", "POST /plants", plant, 200, "", `{"name":"x","name":"x"}`},
		{"undocumented", "GET /plants", "", 200, "", `[] []`},
		{"undocumented", "GET /plants?include=id", "", 200, "", `[{"id":9223372036854775808,"name":"x"}]`},
		{"undocumented", "GET /plants?include=id", "", 200, "", `[{"id":1.0,"name":"x"}]`},
		{"undocumented", "GET /plants", "", 400, "", failed("40003")}, // an error of another operation
		{"undocumented", "DELETE /plants/1", "", 204, noType, "x"},
		{"undocumented", "DELETE /plants/1", "", 204, "", ""},

		{"accepted", "POST /plants", `{"id": 1, "name": "` + strings.Repeat("x", 257) + `"}`, 200, "", created},
		{"accepted", "POST /plants", `{"id": 1, "name": "\u0085"}`, 200, "", created},
		{"accepted", "POST /plants", `{"id": 1.0, "name": "x"}`, 200, "", created},
		{"accepted", "POST /plants", `{"id": 1, "name": "\ud800"}`, 200, "", created},
		{"accepted", "POST /plants", plant + strings.Repeat(" ", 1<<16), 200, "", created},
		{"accepted", "POST /plants", "", 200, "", created},
		{"accepted", "POST /plants\nIdempotency-Key: a,b", plant, 200, "", created},
		{"accepted", "DELETE /plants/01", "", 204, noType, ""},
		{"accepted", "HEAD /plants?limit=0", "", 200, "", ""},
		{"accepted", "GET /plants?limit=1&limit=1", "", 200, "", `[]`},
		{"accepted", "GET /plants?x=%zz", "", 200, "", `[]`},

		{"refused", "POST /plants", `{"id": 9223372036854775807, "name": "x"}`, 400, "", failed("40002")},
		{"refused", "GET /plants?limit=1&x=1&x=2", "", 400, "", failed("40006")},
		{"refused", "DELETE /plants/-1?x=%zz", "", 400, "", failed("40007")},
	} {
		start, lines, _ := strings.Cut(test.request, "\n")
		method, target, _ := strings.Cut(start, " ")
		u, err := url.Parse("http://127.0.0.1" + target)
		if err != nil {
			t.Fatal(err)
		}
		req := &http.Request{Method: method, URL: u, Header: header(lines, http.Header{})}
		resp := &http.Response{StatusCode: test.status, Header: header(test.header, http.Header{"Cache-Control": {"no-store"},
			"X-Content-Type-Options": {"nosniff"}, "X-Request-Id": {"x"}, "Content-Type": {"application/json"}})}
		if err := d.Validate(req, []byte(test.body), resp, []byte(test.answer)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: status %d %s %.100s: %v, want %q", test.request, test.status, test.header, test.answer, err, test.want)
		}
	}
}

// header changes h by lines, of which each adds a header or, if it is empty,
// removes one.
func header(lines string, h http.Header) http.Header {
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, _ := strings.Cut(line, ":")
		if value == "" {
			delete(h, name)
		} else {
			h[name] = append(h[name], strings.TrimSpace(value))
		}
	}
	return h
}
