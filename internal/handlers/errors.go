package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants"
)

// A Code is the numeric value of an Error: its HTTP status times 100, plus a
// number of ours. Codes are part of the contract and stable for ever.
type Code int32

// The codes, each with what it means.
const (
	CodeBadRequest      Code = 40000 // any other fault of the request
	CodeMalformedBody   Code = 40001 // the body is not one JSON object, strictly read
	CodeInvalidField    Code = 40002 // a field of the body is missing or breaks a rule
	CodeInUse           Code = 40003 // the id is in use
	CodeUnsupportedType Code = 40004 // media type or content encoding not supported
	CodeBodyTooLarge    Code = 40005 // the body is too large
	CodeInvalidQuery    Code = 40006 // a query parameter breaks a rule
	CodeInvalidID       Code = 40007 // the id in the path is not an int64
	CodeInvalidKey      Code = 40008 // the Idempotency-Key is malformed
	CodeKeyReused       Code = 40009 // the Idempotency-Key was used for this id with another name or tag
	CodeNoToken         Code = 40100 // no bearer token
	CodeInvalidToken    Code = 40101 // the token is invalid
	CodeExpiredToken    Code = 40102 // the token has expired
	CodeScope           Code = 40300 // the token lacks the scope
	CodeNotFound        Code = 40400 // no such plant
	CodeUnknownPath     Code = 40401 // no such path
	CodeMethod          Code = 40500 // the path exists, the method does not
	CodeInternal        Code = 50000 // our fault
	CodeUnavailable     Code = 50300 // storage throttled or unreachable, or the token keys unknown so far
	CodeTimeout         Code = 50400 // out of time
)

// codeNames has every code with its name in the OpenAPI document.
var codeNames = map[Code]string{
	CodeBadRequest:      "BadRequest",
	CodeMalformedBody:   "MalformedBody",
	CodeInvalidField:    "InvalidField",
	CodeInUse:           "InUse",
	CodeUnsupportedType: "UnsupportedType",
	CodeBodyTooLarge:    "BodyTooLarge",
	CodeInvalidQuery:    "InvalidQuery",
	CodeInvalidID:       "InvalidID",
	CodeInvalidKey:      "InvalidKey",
	CodeKeyReused:       "KeyReused",
	CodeNoToken:         "NoToken",
	CodeInvalidToken:    "InvalidToken",
	CodeExpiredToken:    "ExpiredToken",
	CodeScope:           "Scope",
	CodeNotFound:        "NotFound",
	CodeUnknownPath:     "UnknownPath",
	CodeMethod:          "Method",
	CodeInternal:        "Internal",
	CodeUnavailable:     "Unavailable",
	CodeTimeout:         "Timeout",
}

// Codes returns all codes in ascending order.
func Codes() []Code { return slices.Sorted(maps.Keys(codeNames)) }

// String returns the name of c in the OpenAPI document.
func (c Code) String() string { return codeNames[c] }

// Status returns the HTTP status that c goes with.
func (c Code) Status() int { return int(c) / 100 }

// A failure is all that a client learns of an error. As an error itself it is
// a fault that this package found in a request.
type failure struct {
	code    Code
	message string      // for a person: which field, which rule
	header  http.Header // beyond those of every answer
}

func (f *failure) Error() string { return f.message }

func failf(code Code, format string, args ...any) error {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// excerpt quotes at most 64 characters of what a client sent, to give it back
// in a message.
func excerpt(s string) string { return strconv.Quote(truncate(s)) }

// truncate cuts s after 64 characters.
func truncate(s string) string {
	n := 0
	for i := range s {
		if n == 64 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

func methodError(allow string) error {
	return &failure{CodeMethod, "method not allowed; this path allows " + allow, header("Allow", allow)}
}

func scopeError(scope string) error {
	return &failure{CodeScope, "the access token lacks the scope " + scope, challenge("insufficient_scope")}
}

// failures says what the client learns of the errors of other packages. The
// first row whose error matches counts: an attempt may have been throttled and
// then have run out of time, so the context's errors come first.
var failures = []struct {
	err error
	failure
}{
	{context.DeadlineExceeded, failure{CodeTimeout, "the service ran out of time; the request may have been carried out", nil}},
	{context.Canceled, failure{CodeTimeout, "the request was cancelled; it may have been carried out", nil}},
	{plants.ErrInUse, failure{CodeInUse, "id is in use; choose another id at random", nil}},
	{plants.ErrTokenReused, failure{CodeKeyReused, "Idempotency-Key was used for this id with another name or tag", nil}},
	{plants.ErrNotFound, failure{CodeNotFound, "you have no plant with this id", nil}},
	{plants.ErrThrottled, failure{CodeUnavailable, "the storage is overloaded; try again later", retryAfter("1")}},
	{plants.ErrUnreachable, failure{CodeUnavailable, "the storage can't be reached; try again later", retryAfter("1")}},
	{auth.ErrNoToken, failure{CodeNoToken, "the request needs the header Authorization: Bearer <access token>", challenge("")}},
	{auth.ErrExpiredToken, failure{CodeExpiredToken, "the access token has expired; get a new one", challenge("invalid_token")}},
	{auth.ErrInvalidToken, failure{CodeInvalidToken, "the access token is not valid for this service", challenge("invalid_token")}},
	{auth.ErrKeysUnavailable, failure{CodeUnavailable, "access tokens can't be checked at the moment; try again later", retryAfter("5")}},
}

// describe returns what a client learns of err. What no row knows is our own
// fault, and its text is none of the client's business.
func describe(err error) failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return *f
	}
	for _, row := range failures {
		if errors.Is(err, row.err) {
			return row.failure
		}
	}
	return failure{CodeInternal, "internal error", nil}
}

// challenge is the answer to a token that doesn't do, as RFC 6750, section 3
// has it.
func challenge(code string) http.Header {
	value := `Bearer realm="plants"`
	if code != "" {
		value += `, error="` + code + `"`
	}
	return header("WWW-Authenticate", value)
}

func retryAfter(seconds string) http.Header { return header("Retry-After", seconds) }

func header(name, value string) http.Header {
	h := make(http.Header)
	h.Set(name, value)
	return h
}
