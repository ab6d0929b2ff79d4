package api_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/openapi"
)

// An occasion makes the service return an example.
type occasion struct {
	setup  setup
	before []sent
	last   sent // fields not set are those of a valid request of the operation
}

// occasions returns the occasions of the examples of op's responses, by name. The
// document must have two examples of each create, the first with the id 7.
func occasions(d *openapi.Document, op *openapi.Operation, issuer *authtest.Issuer) map[string]occasion {
	stored := d.Creates()
	var first, second sent // creates of op's resource
	if create := d.ResourceOf(op).Create; create != nil {
		first, second = create.Requests()[0], create.Requests()[1]
	}
	changed := second
	changed.Body = openapi.With(second.Body, "id", "7")
	ofBob := first
	ofBob.Header = []string{"Authorization", "Bearer " + issuer.Token("bob", handlers.Scopes()...)}
	query := func(name string, values ...string) sent { return op.Request(name, values...) }
	plain := op.Request("").Target
	otherScope := "" // which a token has in place of op's
	for _, scope := range handlers.Scopes() {
		if scope != op.Scope() {
			otherScope = scope
		}
	}
	body := func(body string, header ...string) sent { return sent{Body: body, Header: header} }
	with := func(name, value string) sent { return body(openapi.With(op.Request("").Body, name, value)) }
	token := func(value string) sent { return sent{Header: []string{"Authorization", value}} }
	expired := authtest.Claims("alice")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()

	return map[string]occasion{
		"createdUntagged": {last: second},
		"listWithID":      {before: stored, last: query("include", "id")},
		"listPage":        {before: stored, last: query("limit", "1")},
		"listEmpty":       {before: []sent{first}, last: query("cursor", "AQAAAAAAAAAH")},

		"idInUse":         {before: []sent{ofBob}},
		"idExists":        {before: stored, last: changed},
		"idInvalid":       {last: with("id", "1.0")},
		"idMissing":       {last: with("id", "")},
		"nameMissing":     {last: with("name", "")},
		"nameNull":        {last: with("name", "null")},
		"nameBlank":       {last: with("name", `"\u2003"`)},
		"nameTooLong":     {last: with("name", `"`+strings.Repeat("x", 257)+`"`)},
		"bodySyntax":      {last: body(`{Basil}`)},
		"bodyEmpty":       {last: body(" ")},
		"bodyDuplicate":   {last: body(`{"id": 7, "name": "Basil", "id": 7}`)},
		"bodyNoObject":    {last: body(`null`)},
		"bodyTooLarge":    {last: body(strings.Repeat(" ", 65537))},
		"bodyIncomplete":  {setup: setup{cutBody: true}},
		"mediaType":       {last: body("", "Content-Type", "text/plain")},
		"charset":         {last: body("", "Content-Type", "application/json; charset=latin1")},
		"contentEncoding": {last: body("", "Content-Encoding", "gzip")},

		"limitInvalid":   {last: query("limit", "0")},
		"limitTwice":     {last: query("limit", "1", "1")},
		"cursorInvalid":  {last: query("cursor", "7")},
		"includeInvalid": {last: query("include", "name")},
		"queryMalformed": {last: sent{Target: plain + "?x=%zz"}},
		"pathID":         {last: query("id", "seven")},

		"tokenMissing": {last: token("")},
		"tokenInvalid": {last: token("Bearer x")},
		"tokenExpired": {last: token("Bearer " + issuer.Sign(expired))},
		"scopeRead":    {last: token("Bearer " + issuer.Token("alice", otherScope))},
		"scopeWrite":   {last: token("Bearer " + issuer.Token("alice", otherScope))},

		"pathUnknown":      {last: sent{Method: "GET", Target: "/healthz"}},
		"pathSlash":        {last: sent{Method: "GET", Target: "/plants/"}},
		"methodNotAllowed": {last: sent{Method: "PUT", Target: "/plants"}},
		"OPTIONS":          {last: sent{Method: "OPTIONS", Target: "/plants"}},

		"internalError":      {setup: setup{fault: errors.New("fault")}},
		"storageOverloaded":  {setup: setup{fault: plants.ErrThrottled}},
		"storageUnreachable": {setup: setup{fault: plants.ErrUnreachable}},
		"storageUnwritable":  {setup: setup{fault: plants.ErrUnwritable}},
		"keysUnavailable":    {setup: setup{jwksURL: "http://127.0.0.1:1/"}},
		"outOfTime":          {setup: setup{fault: context.DeadlineExceeded}},
	}
}

// occur sends the requests of o to s, the last of which is one of op, and adds
// the headers of the response to seen.
func (o occasion) occur(t *testing.T, s *service, op *openapi.Operation, status int, want []byte, seen http.Header) {
	for _, r := range o.before {
		if resp, body := s.doAsDocumented(t, r); resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %.300q of the examples was answered %d %s", r.Method, r.Target, r.Body, resp.StatusCode, body)
		}
	}
	last, valid := o.last, op.Request("")
	last.Method = cmp.Or(last.Method, valid.Method)
	last.Target = cmp.Or(last.Target, valid.Target)
	last.Body = cmp.Or(last.Body, valid.Body)
	if last.Header == nil {
		last.Header = valid.Header
	}
	resp, body := s.doAsDocumented(t, last)
	if resp.StatusCode != status || !sameJSON(body, string(want)) {
		t.Errorf("api/openapi.yaml shows %d %s, but the response to %s is %d %s", status, want, op, resp.StatusCode, body)
	}
	for name, values := range resp.Header {
		seen[name] = append(seen[name], values...)
	}
}

// sameJSON reports whether two texts are the same JSON, with members in the same order.
func sameJSON(a, b string) bool {
	format := func(text string) string {
		v := jsontext.Value(text)
		v.Format() // fails if there is no body
		return string(v)
	}
	return format(a) == format(b)
}
