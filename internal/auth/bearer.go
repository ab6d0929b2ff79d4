package auth

import (
	"fmt"
	"net/http"
	"strings"
)

// maxTokenLength is in bytes. API Gateway takes no more than 10,240 bytes for
// all headers of a request together.
const maxTokenLength = 10 << 10

// bearerToken returns the credentials of the Authorization header: the scheme
// Bearer in any case (RFC 9110 section 11.1), spaces, and one token68 (RFC 6750
// section 2.1).
func bearerToken(h http.Header) (string, error) {
	values := h.Values("Authorization")
	switch len(values) {
	case 0:
		return "", fmt.Errorf("%w: no Authorization header", ErrNoToken)
	case 1:
	default:
		return "", fmt.Errorf("%w: %d Authorization headers", ErrInvalidToken, len(values))
	}
	scheme, token, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", fmt.Errorf("%w: the Authorization header has another scheme", ErrNoToken)
	}
	token = strings.TrimLeft(token, " ")
	switch {
	case token == "":
		return "", fmt.Errorf("%w: the Authorization header has the scheme only", ErrNoToken)
	case len(token) > maxTokenLength:
		return "", fmt.Errorf("%w: %d bytes, at most %d allowed", ErrInvalidToken, len(token), maxTokenLength)
	case !isToken68(token):
		return "", fmt.Errorf("%w: characters that no token has", ErrInvalidToken)
	}
	return token, nil
}

// isToken68 reports whether s is a token68 (RFC 9110 section 11.2).
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~+/", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
