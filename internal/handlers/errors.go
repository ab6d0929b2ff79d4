package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/plants"
)

// A Code is the member error of an error response: the HTTP status times 100, plus a
// sequence number. Codes are part of the contract and never change.
type Code int32

// The error codes. Errors of other packages get theirs from publicErrors.
const (
	CodeBadRequest      Code = 40000 // any other invalid request
	CodeMalformedBody   Code = 40001 // the body is not one unambiguous JSON object
	CodeInvalidField    Code = 40002 // a field of the body is missing or breaks a rule
	CodeInUse           Code = 40003 // the id is in use, and the request is not a retry
	CodeUnsupportedType Code = 40004 // unsupported media type or content encoding
	CodeBodyTooLarge    Code = 40005 // the body is too large
	CodeInvalidQuery    Code = 40006 // a query parameter breaks a rule
	CodeInvalidID       Code = 40007 // the id in the path is not an int64
	CodeNoToken         Code = 40100 // no bearer token
	CodeInvalidToken    Code = 40101 // the token is invalid
	CodeExpiredToken    Code = 40102 // the token has expired
	CodeScope           Code = 40300 // the token lacks the required scope
	CodeNotFound        Code = 40400 // the caller has no plant with this id
	CodeUnknownPath     Code = 40401 // no such path
	CodeMethod          Code = 40500 // the path does not support the method
	CodeInternal        Code = 50000 // internal error
	CodeUnavailable     Code = 50300 // storage throttled, unreachable or full, or token keys not available yet
	CodeTimeout         Code = 50400 // the request timed out or was canceled
)

// Status returns the HTTP status of responses with the code c.
func (c Code) Status() int { return int(c) / 100 }

// A publicError is an error together with what a client learns about it. An error that wraps
// it can add a cause for the log alone.
type publicError struct {
	code    Code
	message string      // for the client; names the field and the broken rule, if any
	header  http.Header // in addition to the headers of every response
}

func (e *publicError) Error() string { return e.message }

// failf returns an error with a code and a message for the client.
func failf(code Code, format string, args ...any) error {
	return &publicError{code: code, message: fmt.Sprintf(format, args...)}
}

// publicErrors maps errors of other packages to what the client learns. The
// first matching row counts, so the end of a context comes first.
var publicErrors = []struct {
	err error
	publicError
}{
	{context.DeadlineExceeded, publicError{CodeTimeout, "the service ran out of time; the request may have been carried out", nil}},
	{context.Canceled, publicError{CodeTimeout, "the request was canceled; it may have been carried out", nil}},
	{plants.ErrInUse, publicError{CodeInUse, "id is in use by another user; choose another id at random", nil}},
	{plants.ErrExists, publicError{CodeInUse, "you already have a plant with this id, with another name or tag; choose another id, or delete that plant first", nil}},
	{plants.ErrNotFound, publicError{CodeNotFound, "you have no plant with this id", nil}},
	{plants.ErrThrottled, publicError{CodeUnavailable, "the storage is overloaded; try again later", retryAfter(time.Second)}},
	{plants.ErrUnreachable, publicError{CodeUnavailable, "the storage can't be reached; try again later", retryAfter(time.Second)}},
	{plants.ErrUnwritable, publicError{CodeUnavailable, "the storage is full or can't be written; try again later", retryAfter(5 * time.Second)}},
	{auth.ErrNoToken, publicError{CodeNoToken, "the request needs the header Authorization: Bearer <access token>", challenge("")}},
	{auth.ErrExpiredToken, publicError{CodeExpiredToken, "the access token has expired; get a new one", challenge(`, error="invalid_token"`)}},
	{auth.ErrInvalidToken, publicError{CodeInvalidToken, "the access token is not valid for this service; get a new one from its issuer. " +
		"The operator of this service finds the cause in the log", challenge(`, error="invalid_token"`)}},
	{auth.ErrKeysUnavailable, publicError{CodeUnavailable, "access tokens can't be checked at the moment; try again later", retryAfter(auth.RetryAfter)}},
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
	return publicError{CodeInternal, "internal error; retry, and report the X-Request-Id", nil}
}

// errorResponse returns the response to a request that failed with err.
func errorResponse(err error) response {
	e := describe(err)
	// The Error shape of api/openapi.yaml.
	body := struct {
		Error   Code   `json:"error"`
		Message string `json:"message"`
	}{e.code, e.message}
	return response{status: e.code.Status(), code: e.code, header: e.header, body: encode(body)}
}

func retryAfter(d time.Duration) http.Header {
	return http.Header{"Retry-After": {strconv.Itoa(int(d.Seconds()))}}
}

// challenge returns the header of a response to a missing or rejected token, with
// additional parameters (RFC 6750 section 3).
func challenge(params string) http.Header {
	return http.Header{"Www-Authenticate": {`Bearer realm="plants"` + params}}
}
