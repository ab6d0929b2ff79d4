package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/plants"
)

// byGateway are the examples that only API Gateway can give.
var byGateway = []string{"gatewayTooLarge", "gatewayThrottled"}

// An occasion is how an example comes about.
type occasion struct {
	fault  fault
	before []sent
	last   sent
	header []string // of the answer, names and values
}

const example = "/components/parameters/"

// occasions returns how each example of an answer comes about, by its name.
// Requests and parameters are those of the document where it has them.
func occasions(t *testing.T) map[string]occasion {
	d := parse(t)
	bodies, err := d.Bodies(false)
	if err != nil {
		t.Fatal(err)
	}
	create := func(body string, header ...string) sent { return sent{"POST", "/plants", body, header} }
	tagged, untagged := create(string(bodies["newTagged"])), create(string(bodies["newUntagged"]))
	stored := []sent{tagged, untagged}
	get := func(query string, header ...string) sent { return sent{"GET", "/plants" + query, "", header} }
	list := get("")
	path := fmt.Sprint("/plants/", d.At(example+"ID/example"))
	remove := sent{method: "DELETE", target: path}
	limit := fmt.Sprint("?limit=", d.At(example+"Limit/example"))
	link, _ := d.At("/components/headers/Link/example").(string)
	withID := fmt.Sprint("?include=", d.At(example+"Include/example"))
	key := fmt.Sprint(d.At(example + "IdempotencyKey/example"))
	next := list
	next.target = fmt.Sprint("/plants?cursor=", d.At(example+"Cursor/example"))
	expired := authtest.Claims("alice")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()

	const challenge = `Bearer realm="plants"`
	unavailable := []string{"Retry-After", "1"}
	long := strings.Repeat("x", 257)
	return map[string]occasion{
		"createdTagged":   {last: tagged},
		"createdUntagged": {last: untagged},
		"list":            {before: stored, last: list},
		"listWithID":      {before: stored, last: get(withID)},
		"listPage":        {before: stored, last: get(limit), header: []string{"Link", link}},
		"listEmpty":       {before: []sent{tagged}, last: next},

		"idInUse":         {before: stored, last: tagged},
		"idInvalid":       {last: create(`{"id": 1.0, "name": "Basil"}`)},
		"nameMissing":     {last: create(`{"id": 7}`)},
		"nameNull":        {last: create(`{"id": 7, "name": null}`)},
		"nameBlank":       {last: create(`{"id": 7, "name": "\u2003"}`)},
		"nameEmpty":       {last: create(`{"id": 7, "name": ""}`)},
		"nameTooLong":     {last: create(`{"id": 7, "name": "` + long + `"}`)},
		"tagTooLong":      {last: create(`{"id": 7, "name": "Basil", "tag": "` + long + `"}`)},
		"bodyCutOff":      {last: create(`{"id": 7, "name": "Basil"`)},
		"bodySyntax":      {last: create(`{Basil}`)},
		"bodyDuplicate":   {last: create(`{"id": 7, "name": "Basil", "id": 7}`)},
		"bodyNoObject":    {last: create(`null`)},
		"bodyTooLarge":    {last: create(strings.Repeat(" ", 65536) + tagged.body)},
		"bodyIncomplete":  {fault: fault{breakBody: true}, last: tagged},
		"mediaType":       {last: create(tagged.body, "Content-Type", "text/plain")},
		"charset":         {last: create(tagged.body, "Content-Type", "application/json; charset=latin1")},
		"contentEncoding": {last: create(tagged.body, "Content-Encoding", "gzip")},
		"keyMalformed":    {last: create(tagged.body, "Idempotency-Key", "a,b")},
		"keyReused": {
			before: []sent{create(tagged.body, "Idempotency-Key", key), create(tagged.body, "Idempotency-Key", key)},
			last:   create(`{"id": 7, "name": "Fern"}`, "Idempotency-Key", key),
		},

		"limitInvalid":   {last: get("?limit=0")},
		"limitTwice":     {last: get("?limit=1&limit=1")},
		"cursorInvalid":  {last: get("?cursor=7")},
		"includeInvalid": {last: get("?include=name")},
		"queryMalformed": {last: get("?x=%zz")},
		"pathID":         {last: sent{method: "DELETE", target: "/plants/seven"}},

		"tokenMissing": {last: get("", "Authorization", ""), header: []string{"WWW-Authenticate", challenge}},
		"tokenInvalid": {last: get("", "Authorization", "Bearer x"), header: []string{"WWW-Authenticate", challenge + `, error="invalid_token"`}},
		"tokenExpired": {last: get("", "claims", string(marshal(t, expired))), header: []string{"WWW-Authenticate", challenge + `, error="invalid_token"`}},
		"scopeRead":    {last: get("", "scope", auth.ScopeWrite), header: []string{"WWW-Authenticate", challenge + `, error="insufficient_scope"`}},
		"scopeWrite":   {last: create(tagged.body, "scope", auth.ScopeRead), header: []string{"WWW-Authenticate", challenge + `, error="insufficient_scope"`}},

		"plantNotFound":  {before: []sent{tagged, remove}, last: remove},
		"pathWithSlash":  {last: sent{method: "DELETE", target: "/plants/1%2F2"}},
		"pathUnknown":    {last: sent{method: "GET", target: "/plants/"}},
		"methodOfPlants": {last: sent{method: "PUT", target: "/plants"}, header: []string{"Allow", "GET, HEAD, POST"}},
		"methodOfPlant":  {last: sent{method: "GET", target: path}, header: []string{"Allow", "DELETE"}},

		"internalError":      {fault: fault{store: errors.New("fault")}, last: list},
		"storageOverloaded":  {fault: fault{store: plants.ErrThrottled}, last: tagged, header: unavailable},
		"storageUnreachable": {fault: fault{store: plants.ErrUnreachable}, last: remove, header: unavailable},
		"keysUnavailable":    {fault: fault{keys: noKeys(t)}, last: list, header: []string{"Retry-After", "5"}},
		"outOfTime":          {fault: fault{store: context.DeadlineExceeded}, last: tagged},
		"cancelled":          {fault: fault{store: context.Canceled}, last: list},
	}
}

// noKeys returns the keys of an issuer that has gone.
func noKeys(t *testing.T) auth.KeySource {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	keys, err := auth.RemoteKeys(gone.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every example of a body in the document is sent, or comes back, to the
// letter.
func TestExamples(t *testing.T) {
	d := parse(t)
	examples, err := d.Bodies(true)
	if err != nil {
		t.Fatal(err)
	}
	known := occasions(t)
	for name := range known {
		if examples[name] == nil {
			t.Errorf("the document has no example %s", name)
		}
	}
	for name, want := range examples {
		o, ok := known[name]
		if slices.Contains(byGateway, name) {
			continue
		}
		if !ok {
			t.Errorf("nothing is known of how the example %s comes about: %s", name, want)
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newService(t, o.fault)
			for _, r := range o.before {
				if a := s.do(t, r); a.StatusCode >= 300 {
					t.Fatalf("%s %s: %d %s", r.method, r.target, a.StatusCode, a.body)
				}
			}
			a := s.do(t, s.signed(t, o.last))
			if a.err != nil {
				t.Error(a.err)
			}
			if !sameJSON(t, a.body, string(want)) {
				t.Errorf("the document shows %s, but the answer is %d %s", want, a.StatusCode, a.body)
			}
			for i := 0; i < len(o.header); i += 2 {
				if got := a.Header.Get(o.header[i]); got != o.header[i+1] {
					t.Errorf("%s is %q, want %q", o.header[i], got, o.header[i+1])
				}
			}
		})
	}
}

// signed puts a token in the place of the claims or the scope that it must have.
func (s *service) signed(t *testing.T, r sent) sent {
	if len(r.header) == 0 {
		return r
	}
	switch name, value := r.header[0], r.header[1]; name {
	case "scope":
		r.header = []string{"Authorization", "Bearer " + s.issuer.Token("alice", value)}
	case "claims":
		var claims map[string]any
		dec := json.NewDecoder(strings.NewReader(value))
		dec.UseNumber()
		if err := dec.Decode(&claims); err != nil {
			t.Fatal(err)
		}
		r.header = []string{"Authorization", "Bearer " + s.issuer.Sign(claims)}
	}
	return r
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	decode := func(s string) (v any) {
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%v: %q", err, s)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}

// Each error has an example, so each is met by a test.
func TestEachCodeHasAnExample(t *testing.T) {
	d := parse(t)
	examples, err := d.Bodies(true)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, body := range examples {
		var e struct{ Error json.Number }
		if json.Unmarshal(body, &e) == nil { // lists are no errors
			shown[e.Error.String()] = true
		}
	}
	codes, _ := d.At("/components/schemas/ErrorCode/enum").([]any)
	for _, code := range codes {
		if !shown[fmt.Sprint(code)] {
			t.Errorf("error %v has no example", code)
		}
	}
}
