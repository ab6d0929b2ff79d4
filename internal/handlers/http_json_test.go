package handlers_test

import "strings"

const (
	sendObject = `send one JSON object, such as {"id": 7, …}`
	oneObject  = `the body must be one JSON object, such as {"id": 7, …}, not `
)

// unclosed is a create that another member can follow.
var unclosed = strings.TrimSuffix(newBasil, "}")

// The JSON of a create.
var _ = add([]rule{
	{title: "All unambiguous JSON is accepted, and unknown names are ignored.", exchanges: []exchange{
		post("{}").each(
			newBasil, "{"+unclosed[len(`{"id":7,`):]+`,"id":7}`,
			strings.NewReplacer("{", " \t\r\n{ \n", `":`, `" : `, ",", " , ", "}", " } \t\r\n").Replace(newBasil),
			strings.NewReplacer(`"id`, `"\u0069d`, "name", `na\u006De`, "Basil", `B\u0061sil`).Replace(newBasil),
			unclosed+`, "colour": "green", "parts": [{"size": 1}, {"size": 2}], "": null}`,
			unclosed+`, "ID": 1, "Name": 2, "NAME": "x", "Tag": null, "TAG": "x", "nam": "x"}`,
			unclosed+`, "big": 1e400, "small": -0.0}`,
			unclosed+`, "deep": `+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`,
		).creates(basil),
	}},
	{title: "A body is one JSON object.", exchanges: []exchange{
		post("{}").each("", " \r\n\t").fails(40001, "the body is empty; "+sendObject),
		post("{}").each("null", "7", "[]", `"Basil"`).fails(40001, oneObject+"{}"),
		post("[ 1,\n 2 ]").fails(40001, oneObject+"[1,2]"),
		post("name=Basil").fails(40001, oneObject+`"name=Basil"`), // as curl -d sends it
		post("[\"\xff\"]").fails(40001, oneObject+"[\"\ufffd\"]"), // a message is valid UTF-8
		post(strings.Repeat("\n7", 33)).fails(40001, oneObject+`"`+strings.Repeat(`\n7`, 32)+`…"`),
		post("["+strings.Repeat("1", 64)+"]").fails(40001, oneObject+"["+strings.Repeat("1", 63)+"…"),
	}},
	{title: "A body is UTF-8 without a byte order mark.", exchanges: []exchange{
		post("\ufeff{\"id\": 7}").fails(40001, oneObject+`"\ufeff{\"id\": 7}"`),
		post("\xff\xfe{\x00").fails(40001, oneObject+`"\xff\xfe{\x00"`), // UTF-16
		post("{\"id\": 7, \"name\": \"{}\"}").each("\xff", "\xed\xa0\x80").malformedAt(19),
		post("{\"name\": \"Basil\xe4\"}").malformedAt(15),
		post("{\"id\": 7, \"name\": \"x\", \"x\": \"\xff\"}").malformedAt(29),
		post("{\"id\": 7, \"name\": \"x\", \"\xff\": 1}").malformedAt(24),
	}},
	{title: "Names need double quotes.", exchanges: []exchange{
		post("{}").each("{Basil}", "{id: 7}", "{null: 7}", "{'id': 7}", "{“id”: 7}", "{7: 7}").
			fails(40001, "malformed JSON at byte 1: names need double quotes"),
		post("{\n \tid: 7}").fails(40001, "malformed JSON at byte 4: names need double quotes"),
	}},
	{title: "Each name is given once, at every depth.", exchanges: []exchange{
		post(`{"id": 7, "name": "Basil", "id": 7}`).fails(40001, `duplicate name "id" at byte 27; give each name once`),
		post(`{"id": 7, "name": "Basil", "n\u0061me": "Fern"}`).
			fails(40001, `duplicate name "name" at byte 27; give each name once`),
		post(`{"a": [{"b":1 ,"b":2}]}`).fails(40001, `duplicate name "b" at byte 15; give each name once`),
		post(`{"a": {"b": {"a": 1, "n\u0061": 1, "na": 2}}}`).
			fails(40001, `duplicate name "na" at byte 35; give each name once`),
		post(`{"~1/":1,"~1/":2}`).fails(40001, `duplicate name "~1/" at byte 9; give each name once`),
		post(strings.ReplaceAll(`{"x":1,"x":2}`, "x", strings.Repeat("ä", 65))).
			fails(40001, `duplicate name "`+strings.Repeat("ä", 64)+`…" at byte 136; give each name once`),
	}},
	{title: "Other malformed JSON is rejected with its place and the decoder's message.", exchanges: []exchange{
		post("{,}").malformedAt(1),
		post(`{"id": 7, "name":`).malformedAt(17),
		post("{ } x").malformedAt(4),
		post("{}").each(`{"id": 7}{"id": 8}`, "{\"id\": 7}\x00", `{"name": “Basil”}`).malformedAt(9),
		post(`{"id": 7,}`).malformedAt(8),
		post("{\"name\": \"Ba\nsil\"}").malformedAt(12),
		post(`{"name": "\udf31\ud83c"}`).malformedAt(10),
	}},
	{title: "A request that is refused creates nothing.", exchanges: []exchange{
		// Each has all that a create needs, so that only the damage can refuse it.
		post("{}").each(newBasil+newBasil, newBasil+"x", newBasil+"}", newBasil+"null", unclosed,
			unclosed+`, "x": 1, "x": 1}`, unclosed+", \"x\": \"\xff\"}", unclosed+`, "x": "\ud83c"}`, unclosed+`, "\ud83c": 1}`,
			unclosed+`, "x": "C:\Data"}`, unclosed+` "x": 1}`, unclosed+`, "x" = 1}`, unclosed+`, "x": 07}`,
			unclosed+`, "x": +7}`, unclosed+`, "x": Basil}`, unclosed+`, /**/ "x": 1}`, unclosed+`, [1]: 7}`,
			unclosed+`, "x": [{}}`,
			unclosed+`, "x": `+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+"}", // deeper than the decoder goes
		).gets(400, anything),
		post(newBasil).with("Content-Type: text/plain").
			fails(40004, `Content-Type must be application/json, not "text/plain"`),
		remove("7").fails(40400, noPlant),
	}},
})
