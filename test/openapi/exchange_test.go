package openapi_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/plantstore/api"
	"example.com/plantstore/test/openapi"
)

func parse(t *testing.T) *openapi.Document {
	t.Helper()
	d, err := openapi.Parse(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	failed  = `{"error":40002,"message":"name is required"}`
	another = `{"error":40003,"message":"id is in use"}`
	plant   = `{"id": 1, "name": "x"}`
	link    = `Link: <?cursor=AQAAAAAAAAAH>; rel="next"`
)

// Each exchange has one fault at most, which the error must be of the kind of.
func TestValidate(t *testing.T) {
	d := parse(t)
	d.FrontHeaders = []string{"Apigw-Requestid"}
	for _, test := range []struct {
		title   string
		request string // method, target, header lines
		body    string
		status  int
		header  string // lines beyond those that every answer has
		answer  string
		want    error
	}{
		{"create", "POST /plants", plant, 200, "", `{"name":"x"}`, nil},
		{"create, with a header of the front", "POST /plants", plant, 200, "Apigw-Requestid: x", `{"name":"x"}`, nil},
		{"list", "GET /plants", "", 200, link, `[{"name":"x","tag":""}]`, nil},
		{"list with ids", "GET /plants?include=id", "", 200, "", `[{"id":-1,"name":"x"}]`, nil},
		{"headers alone", "HEAD /plants", "", 200, link, "", nil},
		{"headers of a failure", "HEAD /plants?limit=0", "", 400, "", "", nil},
		{"delete", "DELETE /plants/1", "", 204, "Content-Type:", "", nil},
		{"not found", "DELETE /plants/1", "", 404, "", `{"error":40400,"message":"x"}`, nil},
		{"bad request", "POST /plants", `{"id": 1}`, 400, "", failed, nil},
		{"id in use", "POST /plants", plant, 400, "", another, nil},
		{"names of headers in any case", "POST /plants\nIDEMPOTENCY-KEY: a", plant, 200, "", `{"name":"x"}`, nil},
		{"throttled by the gateway", "GET /plants", "", 429, "Cache-Control:", `{"message":"Too Many Requests"}`, nil},
		{"unknown path", "GET /", "", 404, "", `{"error":40401,"message":"x"}`, nil},
		{"unknown method", "PUT /plants", "", 405, "Allow: GET, HEAD, POST", `{"error":40500,"message":"x"}`, nil},

		{"status", "POST /plants", plant, 201, "", `{"name":"x"}`, openapi.ErrAnswer},
		{"status of an unknown path", "GET /", "", 400, "", failed, openapi.ErrAnswer},
		{"status of an unknown method", "PUT /plants", "", 404, "", `{"error":40401,"message":"x"}`, openapi.ErrAnswer},
		{"header", "POST /plants", plant, 200, "Location: /plants/1", `{"name":"x"}`, openapi.ErrAnswer},
		{"header of another status", "POST /plants", plant, 200, link, `{"name":"x"}`, openapi.ErrAnswer},
		{"value of a header", "GET /plants", "", 200, "Link: next", `[]`, openapi.ErrAnswer},
		{"number in a header", "GET /plants", "", 503, "Retry-After: 1.0", `{"error":50300,"message":"x"}`, openapi.ErrAnswer},
		{"no number in a header", "GET /plants", "", 503, "Retry-After: soon", `{"error":50300,"message":"x"}`, openapi.ErrAnswer},
		{"header twice", "GET /plants", "", 200, link + "\n" + link, `[]`, openapi.ErrAnswer},
		{"no Cache-Control", "POST /plants", plant, 200, "Cache-Control:", `{"name":"x"}`, openapi.ErrAnswer},
		{"no Retry-After", "GET /plants", "", 503, "", `{"error":50300,"message":"x"}`, openapi.ErrAnswer},
		{"Allow", "PUT /plants", "", 405, "Allow: DELETE", `{"error":40500,"message":"x"}`, openapi.ErrAnswer},
		{"media type", "GET /plants", "", 200, "Content-Type: text/plain", `[]`, openapi.ErrAnswer},
		{"no media type", "GET /plants", "", 200, "Content-Type:", `[]`, openapi.ErrAnswer},
		{"member", "POST /plants", plant, 200, "", `{"id":1,"name":"x"}`, openapi.ErrAnswer},
		{"member of an element", "GET /plants", "", 200, "", `[{"name":"x","owner":"y"}]`, openapi.ErrAnswer},
		{"missing member", "POST /plants", plant, 200, "", `{"tag":"x"}`, openapi.ErrAnswer},
		{"null", "POST /plants", plant, 200, "", `{"name":"x","tag":null}`, openapi.ErrAnswer},
		{"member twice", "POST /plants", plant, 200, "", `{"name":"x","name":"x"}`, openapi.ErrAnswer},
		{"not JSON", "POST /plants", plant, 200, "", `x`, openapi.ErrAnswer},
		{"two values", "GET /plants", "", 200, "", `[] []`, openapi.ErrAnswer},
		{"too large a number", "GET /plants?include=id", "", 200, "", `[{"id":9223372036854775808,"name":"x"}]`, openapi.ErrAnswer},
		{"digits", "GET /plants?include=id", "", 200, "", `[{"id":1.0,"name":"x"}]`, openapi.ErrAnswer},
		{"ids not asked for", "GET /plants", "", 200, "", `[{"id":1,"name":"x"}]`, openapi.ErrAnswer},
		{"ids asked for", "GET /plants?include=id", "", 200, "", `[{"name":"x"}]`, openapi.ErrAnswer},
		{"error", "GET /plants", "", 500, "", `{"error":50099,"message":"x"}`, openapi.ErrAnswer},
		{"error of another status", "GET /plants", "", 500, "", `{"error":50400,"message":"x"}`, openapi.ErrAnswer},
		{"empty message", "GET /plants", "", 500, "", `{"error":50000,"message":""}`, openapi.ErrAnswer},
		{"no content", "DELETE /plants/1", "", 204, "Content-Type:", "x", openapi.ErrAnswer},
		{"type of no content", "DELETE /plants/1", "", 204, "", "", openapi.ErrAnswer},
		{"body of a HEAD", "HEAD /plants", "", 200, "", "[]", openapi.ErrAnswer},

		{"no token", "GET /plants\nAuthorization:", "", 200, "", `[]`, openapi.ErrAccepted},
		{"another scheme", "GET /plants\nAuthorization: Basic x", "", 200, "", `[]`, openapi.ErrAccepted},
		{"two tokens", "GET /plants\nAuthorization: Bearer y", "", 200, "", `[]`, openapi.ErrAccepted},
		{"name too long", "POST /plants", `{"id": 1, "name": "` + strings.Repeat("x", 257) + `"}`, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"blank name", "POST /plants", `{"id": 1, "name": "\u0085"}`, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"fraction", "POST /plants", `{"id": 1.0, "name": "x"}`, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"name twice", "POST /plants", `{"id": 1, "id": 1, "name": "x"}`, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"lone surrogate", "POST /plants", `{"id": 1, "name": "\ud800"}`, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"body too large", "POST /plants", plant + strings.Repeat(" ", 1<<16), 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"Content-Type", "POST /plants\nContent-Type: text/plain", plant, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"charset", "POST /plants\nContent-Type: application/json; charset=x", plant, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"Content-Encoding", "POST /plants\nContent-Encoding: gzip", plant, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"Idempotency-Key", "POST /plants\nidempotency-key: a,b", plant, 200, "", `{"name":"x"}`, openapi.ErrAccepted},
		{"path", "DELETE /plants/01", "", 204, "Content-Type:", "", openapi.ErrAccepted},
		{"limit", "GET /plants?limit=0", "", 200, "", `[]`, openapi.ErrAccepted},
		{"limit of a HEAD", "HEAD /plants?limit=+1", "", 200, "", "", openapi.ErrAccepted},
		{"parameter twice", "GET /plants?limit=1&limit=1", "", 200, "", `[]`, openapi.ErrAccepted},
		{"query string", "GET /plants?x=%zz", "", 200, "", `[]`, openapi.ErrAccepted},

		{"valid body", "POST /plants", plant, 400, "", failed, openapi.ErrRefused},
		{"valid query", "GET /plants?limit=1&x=1&x=2", "", 400, "", `{"error":40006,"message":"x"}`, openapi.ErrRefused},
		{"valid path", "DELETE /plants/-1?x=%zz", "", 400, "", `{"error":40007,"message":"x"}`, openapi.ErrRefused},
	} {
		t.Run(test.title, func(t *testing.T) {
			resp := answer(test.status, test.header)
			err := d.Validate(request(t, test.request), []byte(test.body), resp, []byte(test.answer))
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// request reads a method, a target and header lines. It has a token unless it
// says otherwise.
func request(t *testing.T, text string) *http.Request {
	t.Helper()
	start, lines, _ := strings.Cut(text, "\n")
	method, target, _ := strings.Cut(start, " ")
	u, err := url.Parse("http://127.0.0.1" + target)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer x"}}
	if strings.Contains(lines, "Authorization: Basic") {
		header.Del("Authorization")
	}
	addLines(header, lines)
	return &http.Request{Method: method, URL: u, Header: header}
}

// answer has what the service gives every answer, and these header lines.
func answer(status int, lines string) *http.Response {
	header := http.Header{"Cache-Control": {"no-store"}, "Date": {"x"}, "Content-Type": {"application/json"}}
	if strings.Contains(lines, "Content-Type: ") {
		header.Del("Content-Type")
	}
	addLines(header, lines)
	return &http.Response{StatusCode: status, Header: header}
}

// addLines adds header lines as they stand; one without a value removes.
func addLines(header http.Header, lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		switch name, value, _ := strings.Cut(line, ":"); {
		case name == "":
		case value == "":
			delete(header, name)
		default:
			header[name] = append(header[name], strings.TrimSpace(value))
		}
	}
}

// Of a request that doesn't parse nothing is known, but the answer must be one
// that is documented.
func TestValidateWithoutURL(t *testing.T) {
	d := parse(t)
	req := &http.Request{Method: "GET"}
	if err := d.Validate(req, nil, answer(404, ""), []byte(`{"error":40401,"message":"x"}`)); err != nil {
		t.Error(err)
	}
	if err := d.Validate(req, nil, answer(400, ""), []byte(failed)); err != nil {
		t.Error(err)
	}
	for status, body := range map[int]string{400: `{"message":"x"}`, 404: failed, 418: failed} {
		if err := d.Validate(req, nil, answer(status, ""), []byte(body)); !errors.Is(err, openapi.ErrAnswer) {
			t.Errorf("%d %s: %v", status, body, err)
		}
	}
}

// A document that can't be used to its end is refused at once.
func TestParse(t *testing.T) {
	text := string(api.Document)
	for title, change := range map[string][2]string{
		"YAML":           {"info:\n", "info: [\n"},
		"reference":      {"$ref: '#/components/schemas/PlantName'", "$ref: '#/components/schemas/PlantNames'"},
		"file":           {"$ref: '#/components/schemas/PlantName'", "$ref: 'other.yaml'"},
		"type":           {"type: object", "type: thing"},
		"pattern":        {"'[^\\t", "'([^\\t"},
		"status":         {"'204':", "2XX:"},
		"method":         {"\n    delete:\n", "\n    remove:\n"},
		"media type":     {"application/json:", "text/plain:"},
		"size of a body": {"x-max-bytes: 65536", "x-max-bytes: large"},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if changed == text {
			t.Errorf("%s: there is no %q", title, change[0])
		}
		if _, err := openapi.Parse([]byte(changed)); err == nil {
			t.Errorf("%s: no error", title)
		}
	}
}

func TestCheckExamples(t *testing.T) {
	text := string(api.Document)
	for _, change := range [][2]string{
		{"example: AQAAAAAAAAAH", "example: AQAAAAAAAAA"}, {"examples: [7]", "examples: [seven]"},
		{"value: {name: Basil, tag: herb}", "value: {name: Basil, tag: 1}"}, {"{error: 40003,", "{error: 40099,"},
	} {
		d, err := openapi.Parse([]byte(strings.Replace(text, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if d.CheckExamples() == nil {
			t.Errorf("%s: no error", change[1])
		}
	}
}

func TestBodies(t *testing.T) {
	d, err := openapi.Parse([]byte(strings.Replace(string(api.Document), "listEmpty:", "list:", 1)))
	if err == nil { // YAML has no name twice
		t.Errorf("%v", d.Operations())
	}
	renamed := strings.Replace(string(api.Document), "listEmpty:", "createdTagged:", 1)
	if d, err = openapi.Parse([]byte(renamed)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Bodies(true); err == nil {
		t.Error("two examples have the same name, and there is no error")
	}
	requests, err := parse(t).Bodies(false)
	if err != nil || len(requests) != 2 || string(requests["newTagged"]) != `{"id":7,"name":"Basil","tag":"herb"}` {
		t.Errorf("%s, %v", requests, err)
	}
}
