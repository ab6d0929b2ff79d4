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
	Gateway  bool          // API Gateway responds to OPTIONS itself, and adds headers to 204
	SAMLocal bool          // so does sam local, which also merges slashes
}

// Run runs the session. It deletes the plants that it creates.
func Run(t *testing.T, f Front) {
	alice, bob := Client{t, f, f.Alice}, Client{t, f, f.Bob}
	for name, user := range map[string]Client{"alice": alice, "bob": bob} {
		if user.Token != "" && !user.Do("GET", "/plants?limit=1").Gets(200, "[]") {
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
	alice.Create(basil)
	alice.Create(basil)
	alice.Create(unusual)
	// Without a Content-Type.
	alice.Do("POST", "/plants").Body(plantstest.CreateJSON(ficus)).Gets(200, plantstest.ResponseJSON(ficus))

	// List, whole and in pages.
	rest := plantstest.ResponseJSON(ficus) + "," + plantstest.ResponseJSON(unusual) + "]"
	alice.Do("GET", "/plants").Gets(200, "["+plantstest.ResponseJSON(basil)+","+rest)
	alice.Do("GET", "/plants?limit=1&include=id").Gets(200, "["+newBasil+"]")
	next := alice.Do("GET", "/plants?limit=1").link()
	alice.Do("GET", "/plants"+strings.Replace(next, "limit=1", "limit=2", 1)).Gets(200, "["+rest)
	alice.Do("HEAD", "/plants?limit=1").Gets(200, "")
	if head := alice.Do("HEAD", "/plants?limit=1").link(); head != next {
		t.Errorf("HEAD returns the Link %q, GET %q", head, next)
	}
	alice.Do("GET", "/plants?x=%zz").Fails(40006)
	alice.Do("GET", "/plants?limit=3&x="+url.QueryEscape("a,b&c=%3F+")).
		Gets(200, "["+plantstest.ResponseJSON(basil)+","+rest)

	// Another user.
	if bob.Token != "" {
		bob.Do("POST", "/plants").JSON(newBasil).Fails(40003)
		bob.Do("DELETE", "/plants/"+one).Fails(40400)
		bob.Do("GET", "/plants").Gets(200, "[]")
	} else {
		t.Log("no token for a second user: not tested that users can't see each other's plants")
	}

	// Tokens.
	alice.As("").Do("GET", "/plants").Fails(40100)
	alice.Do("GET", "/plants").Header("Authorization", "Bearer "+alice.Token).Fails(40101) // a second one
	alice.As(alice.Token+","+alice.Token).Do("GET", "/plants").Fails(40101)

	// Paths and methods, which gateways may change.
	if !f.SAMLocal {
		alice.Do("GET", "//plants").Fails(40401)
	}
	if !f.SAMLocal && !f.Gateway {
		alice.As("").Do("OPTIONS", "/plants").Gets(204, "")
	}
	alice.Do("GET", "/plants/1%2F2").Fails(40401)
	alice.Do("GET", "/plants/").Fails(40401)
	alice.Do("DELETE", "/plants/%2B1").Fails(40007)
	alice.Do("DELETE", "/plants/%252531").Gets(400, Anything) // an HTTP API decodes a path twice; the function must not
	alice.Do("PUT", "/plants").Fails(40500)

	// Headers and bodies.
	alice.Do("POST", "/plants").Header("Content-Type", `application/json; profile="a, b"`).Body(newBasil).
		Gets(200, plantstest.ResponseJSON(basil))
	alice.Do("POST", "/plants").Header("Content-Type", "application/json, text/plain").Body(newBasil).Fails(40004)
	alice.Do("POST", "/plants").JSON(newBasil+strings.Repeat(" ", 65536-len(newBasil))).
		Gets(200, plantstest.ResponseJSON(basil))
	alice.Do("POST", "/plants").JSON(strings.Repeat(" ", 1<<20)).Fails(40005)

	// Delete.
	for _, id := range []string{one, two, three} {
		alice.Do("DELETE", "/plants/"+id).Gets(204, "")
	}
	alice.Do("GET", "/plants").Gets(200, "[]")
}
