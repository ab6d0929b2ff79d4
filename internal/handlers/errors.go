package handlers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants"
)

// An errorCode is the member error of an error response: the HTTP status times 100, plus a
// sequence number. Codes are part of the contract and never change.
type errorCode int32

// The error codes. Errors of other packages get theirs from publicErrors.
const (
	codeBadRequest      errorCode = 40000 // any other invalid request
	codeMalformedBody   errorCode = 40001 // the body is not one unambiguous JSON object
	codeInvalidField    errorCode = 40002 // a field of the body is missing or breaks a rule
	codeInUse           errorCode = 40003 // the id is in use, and the request is not a retry
	codeUnsupportedType errorCode = 40004 // unsupported media type or content encoding
	codeBodyTooLarge    errorCode = 40005 // the body is too large
	codeInvalidQuery    errorCode = 40006 // a query parameter breaks a rule
	codeInvalidID       errorCode = 40007 // the id in the path is not an int64
	codeNoToken         errorCode = 40100 // no bearer token
	codeInvalidToken    errorCode = 40101 // the token is invalid
	codeExpiredToken    errorCode = 40102 // the token has expired
	codeScope           errorCode = 40300 // the token lacks the required scope
	codeNotFound        errorCode = 40400 // the caller has no plant with this id
	codeUnknownPath     errorCode = 40401 // no such path
	codeMethod          errorCode = 40500 // the path does not support the method
	codeInternal        errorCode = 50000 // internal error
	codeUnavailable     errorCode = 50300 // storage throttled, unreachable or full, or token keys not available yet
	codeTimeout         errorCode = 50400 // the request timed out
)

// status returns the HTTP status of responses with the code c.
func (c errorCode) status() int { return int(c) / 100 }

// A publicError is an error together with what a client learns about it. An error that wraps
// it can add a cause for the log alone.
type publicError struct {
	code    errorCode
	message string            // for the client; names the field and the broken rule, if any
	header  map[string]string // in addition to the headers of every response
}

func (e *publicError) Error() string { return e.message }

// failf returns an error with a code and a message for the client.
func failf(code errorCode, format string, args ...any) error {
	return &publicError{code: code, message: fmt.Sprintf(format, args...)}
}

// publicErrors maps errors of other packages to what the client learns. The first matching row counts.
var publicErrors = []struct {
	err error
	publicError
}{
	{context.DeadlineExceeded, publicError{codeTimeout,
		"the service ran out of time; the request may have been carried out", nil}},
	{plants.ErrInUse, publicError{codeInUse, "id is in use by another user; choose another id at random", nil}},
	{plants.ErrExists, publicError{codeInUse,
		"you already have another plant with this id; choose another id, or delete that plant first", nil}},
	{plants.ErrNotFound, publicError{codeNotFound, "you have no plant with this id", nil}},
	{plants.ErrThrottled, publicError{codeUnavailable, "the storage is overloaded; try again later",
		retryAfter(time.Second)}},
	{plants.ErrUnreachable, publicError{codeUnavailable, "the storage can't be reached; try again later",
		retryAfter(time.Second)}},
	{plants.ErrUnwritable, publicError{codeUnavailable, "the storage is full or can't be written; try again later",
		retryAfter(5 * time.Second)}},
	{auth.ErrNoToken, publicError{codeNoToken, "the request needs the header Authorization: Bearer <access token>",
		challenge("")}},
	{auth.ErrExpiredToken, publicError{codeExpiredToken, "the access token has expired; get a new one",
		challenge(`, error="invalid_token"`)}},
	{auth.ErrInvalidToken, publicError{codeInvalidToken, "the access token is not valid for this service; " +
		"get a new one from its issuer. " +
		"The operator of this service finds the cause in the log", challenge(`, error="invalid_token"`)}},
	{auth.ErrScope, publicError{codeScope, "the access token lacks the scope ", // errorResponse adds it
		challenge(`, error="insufficient_scope"`)}},
	{auth.ErrKeysUnavailable, publicError{codeUnavailable, "access tokens can't be checked at the moment; try again later",
		retryAfter(auth.RetryAfter)}},
}

// describe returns what a client learns about err. An error without a row is
// internal, and clients never see its text.
func describe(err error) publicError {
	if e, ok := errors.AsType[*publicError](err); ok {
		return *e
	}
	for _, row := range publicErrors {
		if errors.Is(err, row.err) {
			return row.publicError
		}
	}
	return publicError{codeInternal, "internal error; retry, and report the X-Request-Id", nil}
}

// errorResponse returns the response to a request for rt that failed with err. The route rt is
// nil if no route matches.
func errorResponse(rt *Route, err error) response {
	e := describe(err)
	if e.code == codeScope {
		e.message += rt.Scope
	}
	// The Error shape of api/openapi.yaml.
	body := struct {
		Error   errorCode `json:"error"`
		Message string    `json:"message"`
	}{e.code, e.message}
	return response{status: e.code.status(), code: e.code, header: e.header, body: encode(body)}
}

func retryAfter(d time.Duration) map[string]string {
	return map[string]string{"Retry-After": strconv.Itoa(int(d.Seconds()))}
}

// challenge returns the header of a response to a missing or rejected token, with
// additional parameters (RFC 6750 section 3).
func challenge(params string) map[string]string {
	return map[string]string{"WWW-Authenticate": `Bearer realm="plants"` + params}
}
