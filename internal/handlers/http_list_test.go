package handlers_test

import (
	"context"
	"errors"
	"strings"

	"example.com/plantstore/internal/plants"
)

// twoPlants creates the plants of the examples in api/openapi.yaml.
var twoPlants = post("{}").each(newBasil, newFicus).creates(anything)

// Lists.
var _ = add([]rule{
	{title: "A list has the plants in the order of their ids.", exchanges: []exchange{
		get("").gets(200, "[]").having("Content-Type: application/json").lacking("Link"),
		post(anyBasil).each("3", "-20", "100", "-3", "20").creates(basil),
		get("?include=id").gets(200, listed(-20, -3, 3, 20, 100)).lacking("Link"),
	}},
	{title: "Link leads to the next page, if there is one.", exchanges: []exchange{
		twoPlants,
		get("").gets(200, "["+basil+","+ficus+"]").lacking("Link"),
		get("?limit={}").each("2", "3", "2147483647").gets(200, "["+basil+","+ficus+"]").lacking("Link"),
		get("?limit=100&cursor=AYAAAAAAAAAA").gets(200, "["+basil+","+ficus+"]").lacking("Link"), // the examples
		get("?limit=1").gets(200, "["+basil+"]").having(`Link: <?limit=1&cursor=AQAAAAAAAAAH>; rel="next"`),
		get("?limit=1&cursor=AQAAAAAAAAAH").gets(200, "["+ficus+"]").lacking("Link"),
		get("{}").each("?include=id&limit=1", "?%6cimit=%31&inc%6Cude=i%64").gets(200, "["+newBasil+"]").
			having(`Link: <?limit=1&cursor=AQAAAAAAAAAH&include=id>; rel="next"`),
		get("?include=id").gets(200, "["+newBasil+","+newFicus+"]"),
		send("HEAD /plants?limit=1").gets(200, "").
			having(`Link: <?limit=1&cursor=AQAAAAAAAAAH>; rel="next"`, "Content-Type: application/json"),
		remove("7").gets(204, ""),
		get("?cursor=AQAAAAAAAAAH").gets(200, "["+ficus+"]"), // though that plant is gone
		get("?cursor=AQ-_AAAAAAAH").gets(200, "[]"),
	}},
	{title: "limit is an int32 of at least 1 in plain digits.", exchanges: []exchange{
		get("?limit={}").each("", "-1", "0", "01", "1.0", "ten", "2147483648", "9223372036854775808").
			fails(40006, `limit must be an integer from 1 to 2147483647 in plain digits, not "{}"`),
		get("?limit=+1").fails(40006, `limit must be an integer from 1 to 2147483647 in plain digits, not " 1"`),
		get("?limit=%2B1").fails(40006, `limit must be an integer from 1 to 2147483647 in plain digits, not "+1"`),
		get("?limit=%FF").fails(40006, `limit must be an integer from 1 to 2147483647 in plain digits, not "\xff"`),
		send("HEAD /plants?limit=0").gets(400, "").having("Content-Type: application/json"),
	}},
	{title: "include is id.", exchanges: []exchange{
		get("?include={}").each("", "ID", "name", "id,id").fails(40006, `include must be id, not "{}"`),
	}},
	{title: "A cursor comes from a list.", exchanges: []exchange{
		get("?cursor={}").each("", "7", "AQAAAAAAAAA", "AQAAAAAAAAAHA", "AQAAAAAAAAAH=", "AgAAAAAAAAAH").
			fails(40006, `cursor must come from the Link header of a list, not "{}"`).inWordsOnly(),
		get("?cursor=AQ%2B/AAAAAAAH").
			fails(40006, `cursor must come from the Link header of a list, not "AQ+/AAAAAAAH"`).inWordsOnly(),
		get("?cursor=AQAAAAAAAAAH%0A").
			fails(40006, `cursor must come from the Link header of a list, not "AQAAAAAAAAAH\n"`).inWordsOnly(),
		get("?cursor="+strings.Repeat("A", 5000)).
			fails(40006, `cursor must come from the Link header of a list, not "`+strings.Repeat("A", 64)+`…"`).inWordsOnly(),
	}},
	{title: "Each parameter is given once.", exchanges: []exchange{
		get("?{}=id&x=y&{}=id").each("limit", "cursor", "include").fails(40006, "{} must be given at most once"),
		get("?{}").each("limit=1&limit=1", "limit=1&%6cimit=1", "limit=&limit=1").
			fails(40006, "limit must be given at most once"),
	}},
	{title: "A malformed query is refused.", exchanges: []exchange{
		get("?{}").each("%zz", "x=%zz", "x=%2", "%zz=1&limit=1", "limit=1;include=id", ";").
			fails(40006, "malformed query string: check its %-escapes, and separate parameters with &, not ;"),
	}},
	{title: "Other parameters are ignored.", exchanges: []exchange{
		get("?{}").each("", "&&limit=1&", "=1", "x=1&x=2", "Limit=0", "limit[]=0").gets(200, "[]").lacking("Link"),
	}},
})

// Faults of the store, or of the service itself.
var _ = add([]rule{
	{title: "Clients learn nothing about an internal error.", fault: errors.New("secret"), exchanges: []exchange{
		anyOperation.fails(50000, "internal error; retry, and report the X-Request-Id").lacking("Retry-After"),
	}},
	{title: "Clients learn nothing about a panic.", broken: true, exchanges: []exchange{
		anyOperation.fails(50000, "internal error; retry, and report the X-Request-Id").lacking("Retry-After"),
	}},
	{title: "The storage is overloaded.", fault: plants.ErrThrottled, exchanges: []exchange{
		anyOperation.fails(50300, "the storage is overloaded; try again later").having("Retry-After: 1"),
	}},
	{title: "The storage can't be reached.", fault: plants.ErrUnreachable, exchanges: []exchange{
		anyOperation.fails(50300, "the storage can't be reached; try again later").having("Retry-After: 1"),
	}},
	{title: "The storage is full.", fault: plants.ErrUnwritable, exchanges: []exchange{
		anyOperation.fails(50300, "the storage is full or can't be written; try again later").having("Retry-After: 5"),
	}},
	{title: "The keys of the tokens are not known yet.", keysURL: "http://127.0.0.1:1/", exchanges: []exchange{
		anyOperation.fails(50300, "access tokens can't be checked at the moment; try again later").having("Retry-After: 5"),
	}},
	{
		title: "The service runs out of time.",
		fault: errors.Join(plants.ErrThrottled, context.DeadlineExceeded),
		exchanges: []exchange{
			anyOperation.fails(50400, "the service ran out of time; the request may have been carried out").
				lacking("Retry-After"),
		},
	},
})
