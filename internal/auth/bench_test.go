package auth_test

import (
	"crypto"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// Anybody can send the unsigned tokens, which are as large as a token may be.
func BenchmarkAuthenticate(b *testing.B) {
	issuer := authtest.NewIssuer(b)
	client := &http.Client{Transport: &site{pages: map[string]string{keysURL: string(issuer.JWKS())}}}
	c := auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: keysURL}
	v, err := auth.New(c, []string{"plants/read", "plants/write"}, client, slog.New(slog.DiscardHandler))
	must(err)
	must(v.Load(b.Context()))
	unsigned := func(claims string) string {
		return compact(es256Header, claimsAnd(claims), nil, nil) + b64(make([]byte, 64))
	}
	var members strings.Builder
	for n := range 800 {
		fmt.Fprintf(&members, `"%d":0,`, n)
	}
	for _, bench := range []struct{ name, token string }{
		{"seen before", issuer.Token("alice", "plants/read", "plants/write")},
		{"wrong signature", compact(es256Header, lastingClaims, newECKey(issuer.ECKey.Curve), crypto.SHA256)},
		{"many scopes", unsigned(`"scope":"` + strings.Repeat("a ", 3400) + `"`)},
		{"array of scopes", unsigned(`"scope":[` + strings.Repeat(`"a",`, 1700) + `"a"]`)},
		{"array of audiences", compact(es256Header, strings.Replace(lastingClaims, `"`+authtest.Audience+`"`, `[`+strings.Repeat(`"a",`, 1700)+`"a"]`, 1), nil, nil)},
		{"many members", unsigned(members.String() + `"x":0`)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			header := bearer(bench.token)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = v.Authenticate(b.Context(), header)
			}
		})
	}
}
