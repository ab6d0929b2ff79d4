package handlers_test

import (
	"fmt"
	"strings"
	"time"
)

const exists = "you already have another plant with this id; choose another id, or delete that plant first"

// Plants that differ from Basil.
var (
	newFern, fern         = changed(newBasil, "Basil", "Fern"), changed(basil, "Basil", "Fern")
	newUntagged, untagged = changed(newBasil, `,"tag":"herb"`, ""), changed(basil, `,"tag":"herb"`, "")
	newBlank, blank       = changed(newBasil, "herb", ""), changed(basil, "herb", "")
)

// Basil with {} for the id, for the name, for the tag, and for both texts.
var (
	anyBasil          = strings.Replace(newBasil, "7", "{}", 1)
	newNamed, named   = anyText("Basil")
	newTagged, tagged = anyText("herb")
	newTexts, texts   = anyText("Basil", "herb")
)

// anyText returns the create and the response of Basil under the id {n}, with {} for these texts.
func anyText(texts ...string) (create, response string) {
	create, response = strings.Replace(newBasil, "7", "{n}", 1), basil
	for _, text := range texts {
		create, response = strings.Replace(create, text, "{}", 1), strings.Replace(response, text, "{}", 1)
	}
	return create, response
}

// Creates.
var _ = add([]rule{
	{title: "A plant comes back without its id.", exchanges: []exchange{
		post(newBasil).creates(basil).having("Content-Type: application/json").lacking("Link", "Location"),
		post(newFicus).creates(ficus),
		post(changed(newBlank, `"id":7`, `"id":9`)).creates(blank),
		get("").gets(200, "["+basil+","+blank+","+ficus+"]"),
	}},
	{title: "A create can be repeated, as long as the plant exists.", exchanges: []exchange{
		post("{}").each(newBasil, newBasil, changed(newBasil, "Basil", `B\u0061sil`)).creates(basil),
		post(newBasil).with("Idempotency-Key: spring,summer").creates(basil), // ignored
		post("{}").each(newFern, newUntagged, newBlank).fails(40003, exists),
		get("").gets(200, "["+basil+"]"),
		remove("7").gets(204, ""),
		post(newFern).creates(fern),
	}},
	{title: "A create ignores its query.", exchanges: []exchange{
		send("POST /plants?limit=0&x=%zz").sending(newBasil).creates(basil),
	}},
	{title: "The media type is JSON in UTF-8, and may be missing.", exchanges: []exchange{
		post(newBasil).with("Content-Type: {}").each(
			"", "application/json", "APPLICATION/JSON", "application/json; charset=UTF-8",
			`application/json ; charset="utf-8"`, `application/json; charset=utf-8; profile="x;y,z"`,
		).creates(basil),
		post(newBasil).with("Content-Type: {}").each(
			"text/plain", "application/ld+json", "*/*", "json",
			"application/json; charset", "application/json, text/plain", ";",
		).fails(40004, `Content-Type must be application/json, not "{}"`),
		post(newBasil).with("Content-Type: application/json", "Content-Type: application/json").
			fails(40004, `Content-Type must be application/json, not "application/json, application/json"`),
		post(newBasil).with("Content-Type: application/json; charset={}").each("latin1", "utf8").
			fails(40004, `charset must be UTF-8, not "{}"`),
	}},
	{title: "Bodies are not compressed.", exchanges: []exchange{
		post(newBasil).with("Content-Encoding: {}").each("", "Identity").creates(basil),
		post(newBasil).with("Content-Encoding: {}").each("gzip", "identity, gzip").
			fails(40004, `Content-Encoding must be identity or absent, not "{}"`),
		post(newBasil).with("Content-Encoding: identity", "Content-Encoding: gzip").
			fails(40004, `Content-Encoding must be identity or absent, not "gzip"`),
	}},
	{title: "A body has at most 64 KiB.", exchanges: []exchange{
		post(newBasil + strings.Repeat(" ", 65536-len(newBasil))).creates(basil),
		post(strings.Repeat(" ", 65537)).fails(40005, "the body must have at most 65536 bytes"),
		post(strings.Repeat(" ", 65537)).with(chunked).fails(40005, "the body must have at most 65536 bytes"),
		get("").sending(strings.Repeat("x", 65537)).gets(200, "["+basil+"]"), // ignored
	}},
	{title: "A body that is cut off creates nothing.", exchanges: []exchange{
		post(newBasil+" ").cut().fails(40000, "the body is incomplete or came too slowly; send the request again"),
		get("").gets(200, "[]"),
	}},
	{title: "A body that comes too slowly creates nothing.", readTimeout: time.Second / 2, exchanges: []exchange{
		post(newBasil+" ").stalled().fails(40000, "the body is incomplete or came too slowly; send the request again"),
		get("").gets(200, "[]"),
	}},
	{title: "Strings are stored unchanged.", exchanges: []exchange{
		post(newTexts).each(
			" Basil ", "<b>Basil</b> & 'mint'", "</script><!--", "${jndi:ldap://x} %s %00 {{7*7}}",
			"Ünïcödé, Žluťoučký, בזיל, ريحان, 羅勒, バジル",
			"ﬁ and Å are changed by some normalization forms", "e\u0301 and é",
			"🌱 and 👩🏽‍🌾: outside the basic plane, joined", "a\u2028b\u2029c: line terminators in JavaScript",
			"\ufeffa byte order mark inside", "\ufffe \uffff \U0010ffff are noncharacters",
			"\u007f\u0080", `\u0000\u0001\u001f`, ` \"\\\b\f\n\r\t`,
		).creates(texts),
		post(changed(newBasil, `"id":7`, `"id":-1`, "Basil", `\ud83c\udf31 \u00e9\u2028\ufffe`, "herb", `\/\u003c\u0022`)).
			creates(changed(basil, "Basil", "🌱 é\u2028\ufffe", "herb", `/<\"`)),
		get("?limit=1").gets(200, "["+changed(basil, "Basil", "🌱 é\u2028\ufffe", "herb", `/<\"`)+"]"),
	}},
})

// The fields of a create.
var _ = add([]rule{
	{title: "The id is an int64 in plain digits.", exchanges: []exchange{
		post(anyBasil).each("-9223372036854775808", "9223372036854775807", "9007199254740993", "0").creates(basil),
		get("?include=id").gets(200, listed(-9223372036854775808, 0, 9007199254740993, 9223372036854775807)),
		post(anyBasil).each(
			"1.0", "1.5", "1e3", "1e400", "-0", "9223372036854775808", "-9223372036854775809",
			`"7"`, "null", "true", "[7]", "{}",
		).fails(40002, "id must be "+integer+", not {}"),
		post(`{"id": "\u0037", "name": "Basil"}`).fails(40002, "id must be "+integer+`, not "7"`),
		post(`{"name": "Basil"}`).fails(40002, "id is required and must be "+integer),
		post(`{"ID": 7, "name": "Basil"}`).
			fails(40002, `id is required: send it as "id", not "ID", since names are case-sensitive`),
		post(`{"Id":1,"ID":2,"iD":3}`).
			fails(40002, `id is required: send it as "id", not "ID", since names are case-sensitive`),
	}},
	{title: "The name has 1 to 256 characters, and is not only white space.", exchanges: []exchange{
		post(newNamed).each("x", " x ", strings.Repeat("\U0010ffff", 256), "\u200b", "\u180e", "\ufeff").creates(named),
		post(newNamed).each(strings.Repeat("x", 257), strings.Repeat(`\ud83c\udf31`, 257), strings.Repeat("e\u0301", 129)).
			fails(40002, "name must have at most 256 characters"),
		post(newNamed).each("").fails(40002, "name must not be empty"),
		post(newNamed).each(" ", `\t\n\u000b\f\r `).fails(40002, "name must not be only white space"),
		post(newNamed).each(
			`\u0085`, `\u2003`,
			`\t\n\u000b\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a`+
				`\u2028\u2029\u202f\u205f\u3000`,
		).fails(40002, "name must not be only white space").inWordsOnly(),
		post(`{"id": {n}, "name": {}}`).each("null", "7", "true", `{"a":[1]}`, "[]").
			fails(40002, "name must be a string, not {}"),
		post(`{"id": {n}}`).fails(40002, "name is required"),
		post(`{"id": {n}, "names": "x"}`).fails(40002, "name is required"),
		post(`{"id": {n}, "Name": "Basil"}`).
			fails(40002, `name is required: send it as "name", not "Name", since names are case-sensitive`),
	}},
	{title: "The tag has 0 to 256 characters.", exchanges: []exchange{
		post(newTagged).each("", " ", strings.Repeat("\U0010ffff", 256)).creates(tagged),
		post(newTagged).each(strings.Repeat("x", 257), strings.Repeat("x", 4096)).
			fails(40002, "tag must have at most 256 characters"),
		post(changed(newBasil, `"herb"`, "{}")).each("null", "7", "[]", "{}").
			fails(40002, "tag must be a string, not {}"),
		post(changed(newUntagged, "}", `,"TAG":7,"Tag":null}`)).creates(untagged),
	}},
	{title: "A message repeats at most 64 characters.", exchanges: []exchange{
		post(`{"id": `+strings.Repeat("9", 65)+`}`).
			fails(40002, fmt.Sprintf("id must be %s, not %s…", integer, strings.Repeat("9", 64))),
		post(`{"id": 1, "name": [ "`+strings.Repeat("ä", 80)+`" ]}`).
			fails(40002, `name must be a string, not ["`+strings.Repeat("ä", 62)+"…"),
	}},
})
