package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A rule is a rule of the HTTP API, with exchanges that show it. They are sent to a new
// service, in order.
type rule struct {
	title     string
	exchanges []exchange

	fault       error         // of each call of the store
	broken      bool          // if there is no store, so that each call panics
	keysURL     string        // of the token keys, if the service has to fetch them
	readTimeout time.Duration // of the server
}

// An exchange is a request and the response that it must get. The functions post, get,
// remove and send start one, and its methods complete it.
type exchange struct {
	request    string   // method and target
	auth       string   // the header Authorization; <alice> stands for alice's token
	headers    []string // the other headers, each as "Name: value"
	body       string
	unfinished string     // "cut" or "stalled" if the last byte of the body is missing
	values     []string   // see each
	requests   []exchange // if not nil, the exchange is repeated with request and body of each

	status  int
	want    string // the body, or else:
	message string // of an error
	code    int
	begins  bool     // the message only begins like this
	has     []string // headers, as above
	lacks   []string // names of headers
	byGo    bool     // the response comes from net/http, not from the service
	inWords bool     // see inWordsOnly
}

// post creates a plant.
func post(body string) exchange { return send("POST /plants").sending(body) }

// get lists plants. The query starts with a question mark, unless it is empty.
func get(query string) exchange { return send("GET /plants" + query) }

// remove deletes a plant.
func remove(id string) exchange { return send("DELETE /plants/" + id) }

// send sends a method and a target exactly as written, with alice's token.
func send(request string) exchange { return exchange{request: request}.as("alice") }

// as sends another token, or none. See [newTokens] for the names.
func (e exchange) as(who string) exchange {
	e.auth = ""
	if who != "" {
		e.auth = "Authorization: Bearer <" + who + ">"
	}
	return e
}

// authorized sends this Authorization header instead.
func (e exchange) authorized(value string) exchange {
	e.auth = "Authorization: " + value
	return e
}

// with sends further headers.
func (e exchange) with(headers ...string) exchange {
	e.headers = slices.Concat(e.headers, headers)
	return e
}

// sending sends a body.
func (e exchange) sending(body string) exchange {
	e.body = body
	return e
}

// cut ends the connection before the last byte of the body.
func (e exchange) cut() exchange {
	e.unfinished = "cut"
	return e
}

// stalled doesn't send the last byte of the body.
func (e exchange) stalled() exchange {
	e.unfinished = "stalled"
	return e
}

// each repeats the exchange for each value. In the request and the response, {} stands for
// the value. In any body, {n} stands for a number that differs each time.
func (e exchange) each(values ...string) exchange {
	e.values = values
	return e
}

// gets expects a status and a body, which ends with a line break unless it is empty.
func (e exchange) gets(status int, body string) exchange {
	e.status = status
	if e.want = body; body != "" {
		e.want += "\n"
	}
	return e
}

// creates expects the success of a create.
func (e exchange) creates(body string) exchange { return e.gets(200, body) }

// fails expects an error.
func (e exchange) fails(code int, message string) exchange {
	e.status, e.code, e.message = code/100, code, message
	return e
}

// malformedAt expects the error for malformed JSON, in the decoder's words.
func (e exchange) malformedAt(offset int) exchange {
	e.begins = true
	return e.fails(40001, fmt.Sprintf("malformed JSON at byte %d: ", offset))
}

// failsInGo expects an error response from net/http. The service doesn't see the request.
func (e exchange) failsInGo(status int, body string) exchange {
	e.status, e.want, e.byGo = status, body, true
	return e
}

// having also expects these headers with exactly these values.
func (e exchange) having(headers ...string) exchange {
	e.has = slices.Concat(e.has, headers)
	return e
}

// lacking expects none of these headers.
func (e exchange) lacking(names ...string) exchange {
	e.lacks = slices.Concat(e.lacks, names)
	return e
}

// inWordsOnly expects that the schemas of api/openapi.yaml allow the request, although the
// service refuses it: the document states the rule in words only.
func (e exchange) inWordsOnly() exchange {
	e.inWords = true
	return e
}

// expand returns the exchange for each of the requests and each of the values.
func (e exchange) expand() (all []exchange) {
	requests, values := e.requests, e.values
	if requests == nil {
		requests = []exchange{e}
	}
	if values == nil {
		values = []string{"{}"}
	}
	for _, r := range requests {
		e.request, e.body = r.request, r.body
		for _, value := range values {
			all = append(all, e.insert(value))
		}
	}
	return all
}

// insert returns the exchange with the value in place of {}, and with the wanted body of an error.
func (e exchange) insert(value string) exchange {
	e.headers, e.has = slices.Clone(e.headers), slices.Clone(e.has)
	for _, texts := range [][]string{e.headers, e.has} {
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], "{}", value)
		}
	}
	for _, text := range []*string{&e.request, &e.auth, &e.body, &e.want, &e.message} {
		*text = strings.ReplaceAll(*text, "{}", value)
	}
	if e.code != 0 {
		e.want = fmt.Sprintf(`{"error":%d,"message":%s}`, e.code, quoted(e.message)) + "\n"
	}
	if e.begins {
		e.want = strings.TrimSuffix(e.want, "\"}\n")
	}
	return e
}

// quoted returns s in JSON.
func quoted(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(s) // can't fail
	return strings.TrimSpace(b.String())
}
