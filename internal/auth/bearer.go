package auth

import (
	"fmt"
	"net/http"
	"strings"
)

// maxTokenLength is in bytes. API Gateway limits all headers of a request
// together to 10,240 bytes.
const maxTokenLength = 10 << 10

// bearerToken returns the credentials of the Authorization header: the scheme
// Bearer in any case (RFC 9110 section 11.1), spaces, and a token (RFC 6750
// section 2.1).
func bearerToken(h http.Header) (string, error) {
	values := h.Values("Authorization")
	switch len(values) {
	case 0:
		return "", fmt.Errorf("%w: no Authorization header", ErrNoToken)
	case 1:
	default:
		return "", invalid("%d Authorization headers", len(values))
	}
	scheme, token, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", fmt.Errorf("%w: the scheme of the Authorization header is not Bearer", ErrNoToken)
	}
	token = strings.TrimLeft(token, " ")
	switch {
	case token == "":
		return "", fmt.Errorf("%w: the Authorization header has no credentials", ErrNoToken)
	case len(token) > maxTokenLength:
		return "", invalid("%d bytes, more than %d", len(token), maxTokenLength)
	}
	return token, nil
}
