package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
	"example.com/plantstore/test/openapi"
)

// An occasion makes the service return an example.
type occasion struct {
	setup  setup
	before []sent
	last   sent // fields not set are those of a valid request of the operation
}

// occasions returns the occasions of the examples of responses, by name.
func occasions(t *testing.T, d *openapi.Document, issuer *authtest.Issuer) map[string]occasion {
	examples := d.Paths["/plants"]["post"].RequestBody.Content.Examples()
	create := func(body string, header ...string) sent {
		return sent{Method: "POST", Target: "/plants", Body: body, Header: header}
	}
	tagged, untagged := create(string(examples["newTagged"])), create(string(examples["newUntagged"]))
	stored := []sent{tagged, untagged}
	keyed := create(tagged.Body, "Idempotency-Key", "k")
	query := func(name string, values ...string) sent { return d.Paths["/plants"]["get"].Request(name, values...) }
	token := func(value string) sent { return sent{Header: []string{"Authorization", value}} }
	expired := authtest.Claims("alice")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()

	return map[string]occasion{
		"createdTagged":   {last: tagged},
		"createdUntagged": {last: untagged},
		"listWithID":      {before: stored, last: query("include", "id")},
		"listPage":        {before: stored, last: query("limit", "1")},
		"listEmpty":       {before: []sent{tagged}, last: query("cursor", "AQAAAAAAAAAH")},
		"other success":   {before: stored},

		"idInUse":         {before: stored, last: tagged},
		"idInvalid":       {last: create(`{"id": 1.0, "name": "Basil"}`)},
		"nameMissing":     {last: create(`{"id": 7}`)},
		"nameNull":        {last: create(`{"id": 7, "name": null}`)},
		"nameBlank":       {last: create(`{"id": 7, "name": "\u2003"}`)},
		"nameTooLong":     {last: create(`{"id": 7, "name": "` + strings.Repeat("x", 257) + `"}`)},
		"bodySyntax":      {last: create(`{Basil}`)},
		"bodyDuplicate":   {last: create(`{"id": 7, "name": "Basil", "id": 7}`)},
		"bodyNoObject":    {last: create(`null`)},
		"bodyTooLarge":    {last: create(strings.Repeat(" ", 65536) + tagged.Body)},
		"bodyIncomplete":  {setup: setup{cutBody: true}},
		"mediaType":       {last: create(tagged.Body, "Content-Type", "text/plain")},
		"charset":         {last: create(tagged.Body, "Content-Type", "application/json; charset=latin1")},
		"contentEncoding": {last: create(tagged.Body, "Content-Encoding", "gzip")},
		"keyMalformed":    {last: create(tagged.Body, "Idempotency-Key", "a,b")},
		"keyReused":       {before: []sent{keyed, keyed}, last: create(`{"id": 7, "name": "Fern"}`, keyed.Header...)},

		"limitInvalid":   {last: query("limit", "0")},
		"limitTwice":     {last: query("limit", "1", "1")},
		"cursorInvalid":  {last: query("cursor", "7")},
		"includeInvalid": {last: query("include", "name")},
		"queryMalformed": {last: sent{Target: "/plants?x=%zz"}},
		"pathID":         {last: sent{Target: "/plants/seven"}},

		"tokenMissing":  {last: token("")},
		"tokenInvalid":  {last: token("Bearer x")},
		"tokenExpired":  {last: token("Bearer " + issuer.Sign(expired))},
		"scopeRead":     {last: token("Bearer " + issuer.Token("alice", "plants/write"))},
		"scopeWrite":    {last: token("Bearer " + issuer.Token("alice", "plants/read"))},
		"plantNotFound": {},

		"pathUnknown":      {last: sent{Method: "GET", Target: "/plants/"}},
		"methodNotAllowed": {last: sent{Method: "PUT", Target: "/plants"}},
		"OPTIONS":          {last: sent{Method: "OPTIONS", Target: "/plants"}},

		"internalError":      {setup: setup{store: &recordstest.Memory[plants.Plant]{Err: errors.New("fault")}}},
		"storageOverloaded":  {setup: setup{store: &recordstest.Memory[plants.Plant]{Err: records.ErrThrottled}}},
		"storageUnreachable": {setup: setup{store: &recordstest.Memory[plants.Plant]{Err: records.ErrUnreachable}}},
		"storageUnwritable":  {setup: setup{store: &recordstest.Memory[plants.Plant]{Err: records.ErrUnwritable}}},
		"keysUnavailable":    {setup: setup{jwksURL: "http://127.0.0.1:1/"}},
		"outOfTime":          {setup: setup{store: &recordstest.Memory[plants.Plant]{Err: context.DeadlineExceeded}}},
	}
}

// occur sends the requests of o to s, the last of which is one of op, and adds
// the headers of the response to seen.
func (o occasion) occur(t *testing.T, s *service, op *openapi.Operation, status int, want []byte, seen http.Header) {
	for _, r := range o.before {
		if resp, body := s.do(t, r); resp.StatusCode >= 300 {
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
	resp, body := s.do(t, last)
	if resp.StatusCode != status || !sameJSON(body, string(want)) {
		t.Errorf("api/openapi.yaml shows %d %s, but the response to %s is %d %s", status, want, op, resp.StatusCode, body)
	}
	for name, values := range resp.Header {
		seen[name] = append(seen[name], values...)
	}
}

func sameJSON(a, b string) bool {
	decode := func(s string) (v any) {
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return s
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}
