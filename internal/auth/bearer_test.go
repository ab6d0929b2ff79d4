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
		{"none", nil, auth.ErrNoToken},
		{"empty", []string{""}, auth.ErrNoToken},
		{"scheme alone", []string{"Bearer"}, auth.ErrNoToken},
		{"scheme and spaces", []string{"Bearer   "}, auth.ErrNoToken},
		{"another scheme", []string{"Basic YWxpY2U6"}, auth.ErrNoToken},
		{"token alone", []string{token}, auth.ErrNoToken},
		{"no space", []string{"Bearer" + token}, auth.ErrNoToken},
		{"longer scheme", []string{"BearerX " + token}, auth.ErrNoToken},
		{"tab as space", []string{"Bearer\t" + token}, auth.ErrNoToken},
		{"right", []string{"Bearer " + token}, nil},
		{"scheme in lower case", []string{"bearer " + token}, nil},
		{"scheme in mixed case", []string{"bEARER " + token}, nil},
		{"several spaces", []string{"Bearer    " + token}, nil},
		{"space around", []string{"  Bearer " + token + " "}, nil},
		{"twice", []string{"Bearer " + token, "Bearer " + token}, auth.ErrInvalidToken},
		{"with Basic", []string{"Bearer " + token, "Basic YWxpY2U6"}, auth.ErrInvalidToken},
		{"joined by a gateway", []string{"Bearer " + token + ",Bearer " + token}, auth.ErrInvalidToken},
		{"joined with a space", []string{"Bearer " + token + ", Bearer " + token}, auth.ErrInvalidToken},
		{"something after", []string{"Bearer " + token + " x"}, auth.ErrInvalidToken},
		{"parameter", []string{`Bearer token="` + token + `"`}, auth.ErrInvalidToken},
		{"padding", []string{"Bearer " + token + "="}, auth.ErrInvalidToken},
		{"only padding", []string{"Bearer ="}, auth.ErrInvalidToken},
		{"not ASCII", []string{"Bearer é"}, auth.ErrInvalidToken},
		{"Kelvin sign", []string{"Bearer \u212a"}, auth.ErrInvalidToken},
		{"NUL", []string{"Bearer " + token + "\x00"}, auth.ErrInvalidToken},
		{"line break", []string{"Bearer " + token[:20] + "\r\n" + token[20:]}, auth.ErrInvalidToken},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			for _, value := range test.values {
				h.Add("authorization", value)
			}
			caller, err := v.Authenticate(t.Context(), h)
			checkResult(t, caller, err, test.want)
		})
	}
}

func TestTokenLength(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	claims := authtest.Claims("alice")
	ofLength := func(n int) string {
		claims["pad"] = ""
		short := len(issuer.Sign(claims))
		for extra := (n - short) * 3 / 4; ; extra++ {
			claims["pad"] = strings.Repeat("x", extra)
			if token := issuer.Sign(claims); len(token) >= n {
				return token
			}
		}
	}
	check(t, v, ofLength(10<<10-4), nil)
	check(t, v, ofLength(10<<10+1), auth.ErrInvalidToken)
	check(t, v, strings.Repeat("a.", 1<<20), auth.ErrInvalidToken)
}
