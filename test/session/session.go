// Package session sends requests of two users to test a front of the service: a server,
// an HTTP API or a deployment. It tries what a front or its store could change. The tests of
// package handlers cover the service itself, with the messages of its errors.
package session

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/plants/plantstest"
)

// A Front is an address of the service, with users who have no plants.
type Front struct {
	Base       string // without a slash at the end
	Alice, Bob string // access tokens; without Bob's, his requests are left out

	Lag      time.Duration // how long a list may show an earlier state
	Gateway  bool          // API Gateway responds to OPTIONS and to malformed paths itself, and adds headers to 204
	SAMLocal bool          // so does sam local, which also merges slashes
}

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
	basil, ficus, unusual := plantstest.Example(first), plantstest.Minimal(first+1), plantstest.Example(first+2)
	unusual.Name, unusual.Tag = "<b>Žluťoučký</b> 🌱 \x01", new("")
	newBasil := plantstest.CreateJSON(basil)
	t.Cleanup(func() {
		for _, id := range []string{one, two, three} {
			alice.delete(id)
		}
	})

	// Create, and repeat.
	alice.do("POST", "/plants").json(newBasil).gets(200, plantstest.ResponseJSON(basil))
	alice.do("POST", "/plants").json(newBasil).gets(200, plantstest.ResponseJSON(basil))
	alice.do("POST", "/plants").json(plantstest.CreateJSON(unusual)).gets(200, plantstest.ResponseJSON(unusual))
	// Without a Content-Type.
	alice.do("POST", "/plants").body(plantstest.CreateJSON(ficus)).gets(200, plantstest.ResponseJSON(ficus))

	// List, whole and in pages.
	rest := plantstest.ResponseJSON(ficus) + "," + plantstest.ResponseJSON(unusual) + "]"
	alice.do("GET", "/plants").gets(200, "["+plantstest.ResponseJSON(basil)+","+rest)
	alice.do("GET", "/plants?limit=1&include=id").gets(200, "["+newBasil+"]")
	next := alice.do("GET", "/plants?limit=1").link()
	alice.do("GET", "/plants"+strings.Replace(next, "limit=1", "limit=2", 1)).gets(200, "["+rest)
	alice.do("HEAD", "/plants?limit=1").gets(200, "")
	if head := alice.do("HEAD", "/plants?limit=1").link(); head != next {
		t.Errorf("HEAD returns the Link %q, GET %q", head, next)
	}
	alice.do("GET", "/plants?x=%zz").fails(40006)
	alice.do("GET", "/plants?limit=3&x="+url.QueryEscape("a,b&c=%3F+")).
		gets(200, "["+plantstest.ResponseJSON(basil)+","+rest)

	// Another user.
	if bob.token != "" {
		bob.do("POST", "/plants").json(newBasil).fails(40003)
		bob.do("DELETE", "/plants/"+one).fails(40400)
		bob.do("GET", "/plants").gets(200, "[]")
	} else {
		t.Log("no token for a second user: not tested that users can't see each other's plants")
	}

	// Tokens.
	alice.as("").do("GET", "/plants").fails(40100)
	alice.do("GET", "/plants").header("Authorization", "Bearer "+alice.token).fails(40101) // a second one
	alice.as(alice.token+","+alice.token).do("GET", "/plants").fails(40101)

	// Paths and methods, which gateways may change.
	if !f.SAMLocal {
		alice.do("GET", "//plants").fails(40401)
	}
	if !f.SAMLocal && !f.Gateway {
		alice.as("").do("OPTIONS", "/plants").gets(204, "")
		alice.do("DELETE", "/plants/%zz").gets(400, anything) // rejected by net/http
	}
	alice.do("GET", "/plants/1%2F2").fails(40401)
	alice.do("GET", "/plants/").fails(40401)
	alice.do("DELETE", "/plants/%2B1").fails(40007)
	alice.do("DELETE", "/plants/%252531").gets(400, anything) // an HTTP API decodes a path twice; the function must not
	alice.do("PUT", "/plants").fails(40500)

	// Headers and bodies.
	alice.do("POST", "/plants").header("Content-Type", `application/json; profile="a, b"`).body(newBasil).
		gets(200, plantstest.ResponseJSON(basil))
	alice.do("POST", "/plants").header("Content-Type", "application/json, text/plain").body(newBasil).fails(40004)
	alice.do("POST", "/plants").json(newBasil+strings.Repeat(" ", 65536-len(newBasil))).
		gets(200, plantstest.ResponseJSON(basil))
	alice.do("POST", "/plants").json(strings.Repeat(" ", 1<<20)).fails(40005)

	// Delete.
	for _, id := range []string{one, two, three} {
		alice.do("DELETE", "/plants/"+id).gets(204, "")
	}
	alice.do("GET", "/plants").gets(200, "[]")
}
