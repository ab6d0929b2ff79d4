// Package session sends requests of two users to test a front of the service: a server,
// an HTTP API or a deployment. The tests of package handlers cover the service itself.
package session

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A Front is an address of the service, with users who have no plants.
type Front struct {
	Base       string // without a slash at the end
	Alice, Bob string // access tokens; without Bob's, his requests are left out

	Lag      time.Duration // how long a list may show an earlier state
	Gateway  bool          // API Gateway responds to OPTIONS and to malformed paths itself, and adds headers to 204
	SAMLocal bool          // so does sam local, which also merges slashes
}

const (
	noPlant  = "you have no plant with this id"
	noPath   = "no such path"
	badToken = "the access token is not valid for this service; get a new one from its issuer. The operator of this service finds the cause in the log"
	tooLarge = "the body must have at most 65536 bytes"
	wholeID  = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"
)

// Run runs the session. It deletes the plants that it creates.
func Run(t *testing.T, f Front) {
	alice, bob := client{t, f, f.Alice}, client{t, f, f.Bob}
	for name, user := range map[string]client{"alice": alice, "bob": bob} {
		if user.token != "" && !user.do("GET", "/plants?limit=1").gets(200, "[]") {
			t.Fatalf("the session needs users without plants, and tokens for them; %s can't be used", name)
		}
	}
	first := 1e17 + rand.Int64N(8e17) // 18 digits, so that nobody else uses them
	one, two, three := fmt.Sprint(first), fmt.Sprint(first+1), fmt.Sprint(first+2)
	t.Cleanup(func() {
		for _, id := range []string{one, two, three} {
			alice.delete(id)
		}
	})

	// Create, and repeat.
	basil := `{"id": ` + one + `, "name": "Basil", "tag": "herb"}`
	alice.do("POST", "/plants").json(basil).gets(200, `{"name":"Basil","tag":"herb"}`)
	alice.do("POST", "/plants").json(basil).gets(200, `{"name":"Basil","tag":"herb"}`)
	alice.do("POST", "/plants").json(`{"id": `+one+`, "name": "Fern"}`).
		fails(40003, "you already have another plant with this id; choose another id, or delete that plant first")
	alice.do("POST", "/plants").json(`{"id": `+three+`, "name": "<b>Žluťoučký</b> 🌱 \u0001", "tag": ""}`).gets(200, `{"name":"<b>Žluťoučký</b> 🌱 \u0001","tag":""}`)
	alice.do("POST", "/plants").body(`{"id": `+two+`, "name": "Ficus"}`).gets(200, `{"name":"Ficus"}`) // without a Content-Type
	alice.do("POST", "/plants").json(`{"id": 1.0, "name": "Fern"}`).fails(40002, "id must be "+wholeID+", not 1.0")
	alice.do("POST", "/plants").json(`{id: 7}`).fails(40001, "malformed JSON at byte 1: names need double quotes")

	// List, whole and in pages.
	const rest = `{"name":"Ficus"},{"name":"<b>Žluťoučký</b> 🌱 \u0001","tag":""}]`
	alice.do("GET", "/plants").gets(200, `[{"name":"Basil","tag":"herb"},`+rest)
	alice.do("GET", "/plants?limit=1&include=id").gets(200, `[{"id":`+one+`,"name":"Basil","tag":"herb"}]`)
	next := alice.do("GET", "/plants?limit=1").link()
	alice.do("GET", "/plants"+strings.Replace(next, "limit=1", "limit=2", 1)).gets(200, "["+rest)
	alice.do("HEAD", "/plants?limit=1").gets(200, "")
	if head := alice.do("HEAD", "/plants?limit=1").link(); head != next {
		t.Errorf("HEAD returns the Link %q, GET %q", head, next)
	}
	alice.do("GET", "/plants?limit=0").fails(40006, `limit must be an integer from 1 to 2147483647 in plain digits, not "0"`)
	alice.do("GET", "/plants?x=%zz").fails(40006, "malformed query string: check its %-escapes, and separate parameters with &, not ;")
	alice.do("GET", "/plants?limit=3&x="+url.QueryEscape("a,b&c=%3F+")).gets(200, `[{"name":"Basil","tag":"herb"},`+rest)

	// Another user.
	if bob.token != "" {
		bob.do("POST", "/plants").json(basil).fails(40003, "id is in use by another user; choose another id at random")
		bob.do("DELETE", "/plants/"+one).fails(40400, noPlant)
		bob.do("GET", "/plants").gets(200, "[]")
	} else {
		t.Log("no token for a second user: not tested that users can't see each other's plants")
	}

	// Tokens.
	alice.as("").do("GET", "/plants").fails(40100, "the request needs the header Authorization: Bearer <access token>")
	alice.as("x").do("GET", "/plants").fails(40101, badToken)
	alice.do("GET", "/plants").header("Authorization", "Bearer "+alice.token).fails(40101, badToken) // a second one
	alice.as(alice.token+","+alice.token).do("GET", "/plants").fails(40101, badToken)

	// Paths and methods, which gateways may change.
	if !f.SAMLocal {
		alice.do("GET", "//plants").fails(40401, noPath)
	}
	if !f.SAMLocal && !f.Gateway {
		alice.as("").do("OPTIONS", "/plants").gets(204, "")
		alice.do("DELETE", "/plants/%zz").gets(400, anything) // rejected by net/http
	}
	alice.do("GET", "/plants/1%2F2").fails(40401, noPath)
	alice.do("GET", "/plants/").fails(40401, "no such path; leave out the slash at the end")
	alice.do("DELETE", "/plants/%2B1").fails(40007, "the id in the path must be "+wholeID+`, not "+1"`)
	alice.do("DELETE", "/plants/%252531").gets(400, anything) // an HTTP API decodes a path twice; the function must not
	alice.do("PUT", "/plants").fails(40500, "method not allowed; this path allows GET, HEAD, OPTIONS, POST")

	// Headers and bodies.
	alice.do("POST", "/plants").header("Content-Type", `application/json; profile="a, b"`).body(basil).gets(200, `{"name":"Basil","tag":"herb"}`)
	alice.do("POST", "/plants").header("Content-Type", "application/json, text/plain").body(basil).
		fails(40004, `Content-Type must be application/json, not "application/json, text/plain"`)
	alice.do("POST", "/plants").json(basil+strings.Repeat(" ", 65536-len(basil))).gets(200, `{"name":"Basil","tag":"herb"}`)
	alice.do("POST", "/plants").json(strings.Repeat(" ", 65537)).fails(40005, tooLarge)
	alice.do("POST", "/plants").json(strings.Repeat(" ", 1<<20)).fails(40005, tooLarge)

	// Delete.
	for _, id := range []string{one, two, three} {
		alice.do("DELETE", "/plants/"+id).gets(204, "")
	}
	alice.do("DELETE", "/plants/"+one).fails(40400, noPlant)
	alice.do("GET", "/plants").gets(200, "[]")
}

// errorBody returns the body of an error.
func errorBody(code int, message string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}{code, message}) // can't fail
	return strings.TrimSpace(b.String())
}
