package handlers_test

import (
	"fmt"
	"strings"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
)

// Messages of several rules.
const (
	noPlant  = "you have no plant with this id"
	noPath   = "no such path"
	noSlash  = "no such path; leave out the slash at the end"
	noToken  = "the request needs the header Authorization: Bearer <access token>"
	badToken = "the access token is not valid for this service; get a new one from its issuer. " +
		"The operator of this service finds the cause in the log"
	integer = "an integer from -9223372036854775808 to 9223372036854775807 in plain digits"
)

// The plants of the examples in api/openapi.yaml, first as the body of their create. A list with
// include=id has the same form.
var (
	newBasil, basil = inJSON(plantstest.Example(7))
	newFicus, ficus = inJSON(plantstest.Minimal(8731067403512846))
)

func inJSON(p plants.Plant) (create, response string) {
	return plantstest.CreateJSON(p), plantstest.ResponseJSON(p)
}

// changed returns JSON with some text replaced by other text, in pairs.
func changed(json string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(json) }

// listed returns the list of examples with these ids, with include=id.
func listed(ids ...int64) string {
	var all []string
	for _, id := range ids {
		all = append(all, plantstest.CreateJSON(plantstest.Example(id)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// The methods of /plants and of /plants/{id}.
const (
	allMethods = "GET, HEAD, OPTIONS, POST"
	oneMethods = "DELETE, OPTIONS"
)

// anyOperation sends a valid request of each operation.
var anyOperation = exchange{requests: []exchange{post(newBasil), get(""), remove("7")}}.as("alice")

// Paths and methods.
var _ = add([]rule{
	{title: "Paths match exactly, without redirects, and need no token.", exchanges: []exchange{
		send("GET {}").as("").each(
			"/", "/plant", "/Plants", "/healthz", "//plants", "/plants//1", "/plants/1/2", "/plants/1%2F2", "/x/../plants",
			"/plants%00", "/plants%3Flimit=1", "/plants%23", "/plants;x=1", "/%2Fplants", "/plants%252F1",
			"http://plants.example/x",
		).fails(40401, noPath).lacking("Location", "WWW-Authenticate", "Allow"),
		send("GET {}").each("/plants/", "/plants%2F", "/plants/1/").fails(40401, noSlash),
		send("{} /plants/").as("").each("POST", "DELETE", "OPTIONS", "TRACE").fails(40401, noSlash).lacking("Allow"),
		send("HEAD /plants/").gets(404, "").having("Content-Type: application/json"),
	}},
	{title: "Paths are decoded once.", exchanges: []exchange{
		remove("{}").each("%37", "8%32").fails(40400, noPlant),
		// The first letter of the path is escaped, whatever the word.
		send("DELETE {}").each("/plants%2F7", fmt.Sprintf("/%%%x%s/7", "plants"[0], "plants"[1:])).fails(40400, noPlant),
		send("GET http://elsewhere.example/plants").gets(200, "[]"),
	}},
	{title: "net/http rejects an invalid path.", exchanges: []exchange{
		send("GET {}").each("/%zz", "plants").failsInGo(400, "400 Bad Request").
			having("Content-Type: text/plain; charset=utf-8"),
	}},
	{title: "Methods are case-sensitive, and checked before the id and the token.", exchanges: []exchange{
		send("{} /plants").as("").each("TRACE", "PUT", "DELETE", "get", "PLANT").
			fails(40500, "method not allowed; this path allows "+allMethods).
			having("Allow: " + allMethods).lacking("WWW-Authenticate"),
		send("{}").as("").each("TRACE /plants/1", "POST /plants/1", "delete /plants/1", "POST /plants/abc").
			fails(40500, "method not allowed; this path allows "+oneMethods).having("Allow: " + oneMethods),
	}},
	{title: "OPTIONS lists the methods of a path, and needs no token.", exchanges: []exchange{
		send("OPTIONS /plants").as("").gets(204, "").having("Allow: " + allMethods),
		send("OPTIONS {}").as("").each("/plants/1", "/plants/abc").gets(204, "").
			having("Allow: "+oneMethods).lacking("WWW-Authenticate", "Content-Type"),
		send("OPTIONS *").as("").fails(40401, noPath),
	}},
	{title: "The service itself allows no other origin.", exchanges: []exchange{
		send("OPTIONS /plants").as("").with("Origin: https://example.com",
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization").
			gets(204, "").lacking("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers"),
		get("").with("Origin: https://example.com").gets(200, "[]").lacking("Access-Control-Allow-Origin"),
	}},
	{title: "Headers that gateways set, and clients can forge, have no effect.", exchanges: []exchange{
		get("").with("X-Forwarded-For: 127.0.0.1", "X-Forwarded-Prefix: /x", "X-HTTP-Method-Override: DELETE",
			`X-Amzn-Request-Context: {"authorizer":{"jwt":{"claims":{"sub":"bob"}}}}`,
			`X-Golambdaproxy-Apigw-Context: {"accountId":"1"}`,
			"Accept: text/html", "Accept-Encoding: gzip", "Range: bytes=0-0", "If-None-Match: *").
			gets(200, "[]").having("Content-Type: application/json").lacking("Content-Encoding"),
	}},
})

// Deletes.
var _ = add([]rule{
	{title: "A delete has no body, and other plants stay.", exchanges: []exchange{
		twoPlants,
		remove("7").gets(204, "").lacking("Content-Type", "Content-Length"),
		remove("7").fails(40400, noPlant).having("Content-Type: application/json"),
		get("?include=id").gets(200, "["+newFicus+"]"),
		send("DELETE /plants/8731067403512846?limit=0&x=%zz;").gets(204, ""), // its query is ignored
	}},
	{title: "A delete ignores a body.", exchanges: []exchange{
		remove("7").with("Content-Type: text/plain", "Content-Encoding: gzip").sending(strings.Repeat("x", 65537)).
			fails(40400, noPlant),
	}},
	{title: "The id in a path is an int64 in plain digits.", exchanges: []exchange{
		remove("{}").each("0", "-1", "-9223372036854775808", "9223372036854775807").fails(40400, noPlant),
		remove("{}").each("seven", "+1", "01", "-0", "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "..", "*").
			fails(40007, "the id in the path must be "+integer+`, not "{}"`),
		remove("%20").fails(40007, "the id in the path must be "+integer+`, not " "`),
		remove("1%0A").fails(40007, "the id in the path must be "+integer+`, not "1\n"`),
		remove("%2B1").fails(40007, "the id in the path must be "+integer+`, not "+1"`),
		remove("1%3F").fails(40007, "the id in the path must be "+integer+`, not "1?"`),
		remove("1%25").fails(40007, "the id in the path must be "+integer+`, not "1%"`),
		remove("%2531").fails(40007, "the id in the path must be "+integer+`, not "%31"`),
		remove("1%252F2").fails(40007, "the id in the path must be "+integer+`, not "1%2F2"`),
		remove("%FF").fails(40007, "the id in the path must be "+integer+`, not "\xff"`),
		remove(strings.Repeat("9", 1000)).
			fails(40007, "the id in the path must be "+integer+`, not "`+strings.Repeat("9", 64)+`…"`),
	}},
})

// Tokens.
var _ = add([]rule{
	{title: "Every operation needs a bearer token.", exchanges: []exchange{
		anyOperation.as("").fails(40100, noToken).having(`WWW-Authenticate: Bearer realm="plants"`),
		send("HEAD /plants").as("").gets(401, "").
			having(`WWW-Authenticate: Bearer realm="plants"`, "Content-Type: application/json"),
		get("").authorized("{}").each("", "Bearer", "Basic YWxpY2U6c2VjcmV0", "Bearer:<alice>").fails(40100, noToken).
			having(`WWW-Authenticate: Bearer realm="plants"`),
		get("?access_token=x").as("").with("Cookie: access_token=<alice>", "X-Authorization: Bearer <alice>").
			fails(40100, noToken),
	}},
	{title: "The token is checked before the rest of the request.", exchanges: []exchange{
		get("?limit=0").as("").fails(40100, noToken),
		remove("abc").as("").fails(40100, noToken),
		post("{"+strings.Repeat("x", 70_000)).as("").with("Content-Type: text/plain", "Content-Encoding: gzip").
			fails(40100, noToken),
	}},
	{title: "Invalid tokens get one response, whatever is wrong.", exchanges: []exchange{
		anyOperation.as("forged").fails(40101, badToken).
			having(`WWW-Authenticate: Bearer realm="plants", error="invalid_token"`),
		get("").authorized("Bearer {}").each("a.b.c", "<alice>,<alice>", "сафран").fails(40101, badToken),
		get("").with("Authorization: Bearer {}").each("<alice>", "x").fails(40101, badToken), // a second one
		anyOperation.as("expired").fails(40102, "the access token has expired; get a new one").
			having(`WWW-Authenticate: Bearer realm="plants", error="invalid_token"`),
	}},
	{title: "The scheme is case-insensitive, and several spaces may follow it.", exchanges: []exchange{
		get("").authorized("{}").each("bearer <alice>", "BEARER <alice>", "Bearer   <alice>").gets(200, "[]"),
	}},
	{title: "A token allows only what its scopes name.", exchanges: []exchange{
		post(newBasil).as("writer").creates(basil),
		get("").as("reader").gets(200, "["+basil+"]"),
		send("HEAD /plants").as("reader").gets(200, ""),
		get("").as("{}").each("writer", "nobody").fails(40300, "the access token lacks the scope plants/read").
			having(`WWW-Authenticate: Bearer realm="plants", error="insufficient_scope"`),
		anyOperation.as("nobody").gets(403, anything),
		send("{}").as("reader").each("POST /plants", "DELETE /plants/7", "DELETE /plants/abc").
			fails(40300, "the access token lacks the scope plants/write").
			having(`WWW-Authenticate: Bearer realm="plants", error="insufficient_scope"`),
		remove("7").as("writer").gets(204, ""),
	}},
	{title: "Users see and delete only their own plants, but share the ids.", exchanges: []exchange{
		post(newBasil).creates(basil),
		post(newBasil).as("bob").fails(40003, "id is in use by another user; choose another id at random"),
		get("").as("bob").gets(200, "[]"),
		remove("{}").as("bob").each("7", "8").fails(40400, noPlant),
		get("").gets(200, "["+basil+"]"),
	}},
})
