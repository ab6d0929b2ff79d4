package auth_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestAuthorizationHeader(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	token := issuer.Token("alice")
	for _, test := range []struct {
		name   string
		values []string
		want   error
	}{
		{"no header", nil, auth.ErrNoToken},
		{"no credentials", []string{"Bearer"}, auth.ErrNoToken},
		{"other scheme", []string{"Basic YWxpY2U6"}, auth.ErrNoToken},
		{"no space", []string{"Bearer" + token}, auth.ErrNoToken},
		{"valid", []string{"Bearer " + token}, nil},
		{"mixed case", []string{"bEARER " + token}, nil},
		{"several spaces", []string{"Bearer    " + token}, nil},
		{"surrounding space", []string{"  Bearer " + token + " "}, nil},
		{"two headers", []string{"Bearer " + token, "Bearer " + token}, auth.ErrInvalidToken},
		{"joined by a gateway", []string{"Bearer " + token + ",Bearer " + token}, auth.ErrInvalidToken},
		{"padding", []string{"Bearer " + token + "="}, auth.ErrInvalidToken},
		{"line break", []string{"Bearer " + token[:20] + "\r\n" + token[20:]}, auth.ErrInvalidToken},
	} {
		t.Run(test.name, func(t *testing.T) {
			caller, err := v.Authenticate(t.Context(), http.Header{"Authorization": test.values})
			checkResult(t, caller, err, test.want)
		})
	}
}

func TestTokenLength(t *testing.T) {
	v := authtest.NewIssuer(t).Verifier(t)
	for length, tooLong := range map[int]bool{10240: false, 10241: true} { // API Gateway's limit
		_, err := v.Authenticate(t.Context(), bearer(strings.Repeat("x", length)))
		if err == nil || strings.Contains(err.Error(), "bytes") != tooLong {
			t.Errorf("a token of %d bytes: %v", length, err)
		}
	}
}
