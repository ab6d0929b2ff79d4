package openapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/test/openapi"
)

func parse(t *testing.T, text string) *openapi.Document {
	t.Helper()
	d, err := openapi.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	plant   = `{"id": 1, "name": "x"}`
	created = `{"name":"x"}`
	link    = `Link: <?cursor=AQAAAAAAAAAH>; rel="next"`
	noType  = "Content-Type:"
)

// How errors of Validate begin.
const (
	undocumented = "undocumented response"
	accepted     = "accepted a request"
	refused      = "refused a request"
)

func failed(code string) string { return `{"error":` + code + `,"message":"x"}` }

// Each exchange has at most one fault.
func TestValidate(t *testing.T) {
	d := parse(t, string(api.Document))
	d.FrontHeaders = []string{"Apigw-Requestid"}
	for _, test := range []struct {
		title   string
		request string // method, target and headers, one per line
		body    string
		status  int
		header  string // in addition to the headers of all responses
		answer  string
		want    string // how the error begins, "" for none
	}{
		{"create", "POST /plants", plant, 200, "", created, ""},
		{"header of the front", "POST /plants", plant, 200, "Apigw-Requestid: x", created, ""},
		{"list", "GET /plants", "", 200, link, `[{"name":"x","tag":""}]`, ""},
		{"list with ids", "GET /plants?include=id", "", 200, "", `[{"id":-1,"name":"x"}]`, ""},
		{"HEAD", "HEAD /plants", "", 200, link, "", ""},
		{"failed HEAD", "HEAD /plants?limit=0", "", 400, "", "", ""},
		{"delete", "DELETE /plants/1", "", 204, noType, "", ""},
		{"not found", "DELETE /plants/1", "", 404, "", failed("40400"), ""},
		{"bad request", "POST /plants", `{"id": 1}`, 400, "", failed("40002"), ""},
		{"id in use", "POST /plants", plant, 400, "", failed("40003"), ""},
		{"header names in capitals", "POST /plants\nIDEMPOTENCY-KEY: a", plant, 200, "", created, ""},
		{"throttled by the gateway", "GET /plants", "", 429, "Cache-Control:\nX-Request-Id:", `{"message":"Too Many Requests"}`, ""},
		{"unknown path", "GET /", "", 404, "", failed("40401"), ""},
		{"unknown method", "PUT /plants", "", 405, "Allow: GET, HEAD, OPTIONS, POST", failed("40500"), ""},

		{"status", "POST /plants", plant, 201, "", created, undocumented},
		{"status of an unknown path", "GET /", "", 400, "", failed("40000"), undocumented},
		{"status of an unknown method", "PUT /plants", "", 404, "", failed("40401"), undocumented},
		{"header", "POST /plants", plant, 200, "Location: /plants/1", created, undocumented},
		{"header of another status", "POST /plants", plant, 200, link, created, undocumented},
		{"value of a header", "GET /plants", "", 200, "Link: next", `[]`, undocumented},
		{"number in a header", "GET /plants", "", 503, "Retry-After: 1.0", failed("50300"), undocumented},
		{"header twice", "GET /plants", "", 200, link + "\n" + link, `[]`, undocumented},
		{"missing header", "GET /plants", "", 503, "", failed("50300"), undocumented},
		{"Allow", "PUT /plants", "", 405, "Allow: DELETE, OPTIONS", failed("40500"), undocumented},
		{"204", "PUT /plants", "", 204, noType + "\nAllow: GET, HEAD, OPTIONS, POST", "", undocumented},
		{"OPTIONS", "OPTIONS /plants/1", "", 204, noType + "\nAllow: DELETE, OPTIONS", "", ""},
		{"405 to OPTIONS", "OPTIONS /plants/1", "", 405, "Allow: DELETE, OPTIONS", failed("40500"), undocumented},
		{"204 to OPTIONS of an unknown path", "OPTIONS /x", "", 204, noType, "", undocumented},
		{"media type", "GET /plants", "", 200, "Content-Type: text/plain", `[]`, undocumented},
		{"no media type", "GET /plants", "", 200, noType, `[]`, undocumented},
		{"member", "POST /plants", plant, 200, "", `{"id":1,"name":"x"}`, undocumented},
		{"member of an element", "GET /plants", "", 200, "", `[{"name":"x","owner":"y"}]`, undocumented},
		{"missing member", "POST /plants", plant, 200, "", `{"tag":"x"}`, undocumented},
		{"null", "POST /plants", plant, 200, "", `{"name":"x","tag":null}`, undocumented},
		{"duplicate member", "POST /plants", plant, 200, "", `{"name":"x","name":"x"}`, undocumented},
		{"not JSON", "POST /plants", plant, 200, "", `x`, undocumented},
		{"two values", "GET /plants", "", 200, "", `[] []`, undocumented},
		{"over int64", "GET /plants?include=id", "", 200, "", `[{"id":9223372036854775808,"name":"x"}]`, undocumented},
		{"digits", "GET /plants?include=id", "", 200, "", `[{"id":1.0,"name":"x"}]`, undocumented},
		{"unknown error", "GET /plants", "", 500, "", failed("50099"), undocumented},
		{"error of another status", "GET /plants", "", 500, "", failed("50400"), undocumented},
		{"error of another operation", "GET /plants", "", 400, "", failed("40003"), undocumented},
		{"body of a delete", "DELETE /plants/1", "", 204, noType, "x", undocumented},
		{"type of no body", "DELETE /plants/1", "", 204, "", "", undocumented},
		{"body of a HEAD", "HEAD /plants", "", 200, "", "[]", undocumented},

		{"no token", "GET /plants\nAuthorization:", "", 200, "", `[]`, accepted},
		{"long name", "POST /plants", `{"id": 1, "name": "` + strings.Repeat("x", 257) + `"}`, 200, "", created, accepted},
		{"blank name", "POST /plants", `{"id": 1, "name": "\u0085"}`, 200, "", created, accepted},
		{"fraction", "POST /plants", `{"id": 1.0, "name": "x"}`, 200, "", created, accepted},
		{"lone surrogate", "POST /plants", `{"id": 1, "name": "\ud800"}`, 200, "", created, accepted},
		{"large body", "POST /plants", plant + strings.Repeat(" ", 1<<16), 200, "", created, accepted},
		{"no body", "POST /plants", "", 200, "", created, accepted},
		{"header parameter", "POST /plants\nidempotency-key: a,b", plant, 200, "", created, accepted},
		{"path parameter", "DELETE /plants/01", "", 204, noType, "", accepted},
		{"query parameter", "HEAD /plants?limit=0", "", 200, "", "", accepted},
		{"parameter twice", "GET /plants?limit=1&limit=1", "", 200, "", `[]`, accepted},
		{"query string", "GET /plants?x=%zz", "", 200, "", `[]`, accepted},

		{"valid body", "POST /plants", plant, 400, "", failed("40002"), refused},
		{"int64", "POST /plants", `{"id": 9223372036854775807, "name": "x"}`, 400, "", failed("40002"), refused},
		{"valid query", "GET /plants?limit=1&x=1&x=2", "", 400, "", failed("40006"), refused},
		{"valid path", "DELETE /plants/-1?x=%zz", "", 400, "", failed("40007"), refused},
	} {
		t.Run(test.title, func(t *testing.T) {
			start, lines, _ := strings.Cut(test.request, "\n")
			method, target, _ := strings.Cut(start, " ")
			u, err := url.Parse("http://127.0.0.1" + target)
			if err != nil {
				t.Fatal(err)
			}
			req := &http.Request{Method: method, URL: u, Header: header(lines, "Authorization", "Bearer x")}
			err = d.Validate(req, []byte(test.body), response(test.status, test.header), []byte(test.answer))
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// response returns a response with the headers that all have, and these lines.
func response(status int, lines string) *http.Response {
	return &http.Response{StatusCode: status, Header: header(lines, "Cache-Control", "no-store", "X-Request-Id", "x", "Content-Type", "application/json")}
}

// header returns the headers in lines, and those of others that lines don't
// name. A line without a value removes a header.
func header(lines string, others ...string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, _ := strings.Cut(line, ":")
		h[name] = append(h[name], strings.TrimSpace(value))
	}
	for i := 0; i < len(others); i += 2 {
		if h[others[i]] == nil {
			h.Set(others[i], others[i+1])
		}
	}
	for name, values := range h {
		if values[0] == "" {
			delete(h, name)
		}
	}
	return h
}

// An operation that needs no token may not ask for one.
func TestPublicOperation(t *testing.T) {
	d := parse(t, strings.Replace(string(api.Document), "      operationId: listPlants\n", "      operationId: listPlants\n      security: []\n", 1))
	req := &http.Request{Method: "GET", URL: &url.URL{Path: "/plants"}}
	if err := d.Validate(req, nil, response(200, ""), []byte("[]")); err != nil {
		t.Error(err)
	}
	if err := d.Validate(req, nil, response(401, ""), []byte(failed("40100"))); err == nil || !strings.HasPrefix(err.Error(), refused) {
		t.Errorf("%v, want %q", err, refused)
	}
}
