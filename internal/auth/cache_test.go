package auth_test

import (
	"crypto"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestRememberedTokenExpires(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		v := issuer.Verifier(t)
		token := issuer.Token("alice")
		check(t, v, token, nil)
		time.Sleep(authtest.Lifetime + 30*time.Second - 1)
		check(t, v, token, nil)
		if n := v.Remembered(); n != 1 {
			t.Errorf("%d tokens are remembered, want 1", n)
		}
		time.Sleep(time.Nanosecond)
		check(t, v, token, auth.ErrExpiredToken)
		check(t, v, token, auth.ErrExpiredToken)
	})
}

func TestOnlyGoodTokensAreRemembered(t *testing.T) {
	issuer, other := authtest.NewIssuer(t), authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	claims := authtest.Claims("alice")
	claims["exp"] = 1
	check(t, v, issuer.Sign(claims), auth.ErrExpiredToken)
	claims["exp"], claims["nbf"] = 253402300799, 253402300799
	check(t, v, issuer.Sign(claims), auth.ErrInvalidToken)
	check(t, v, other.Token("alice"), auth.ErrInvalidToken)
	check(t, v, issuer.Token(""), auth.ErrInvalidToken)
	if n := v.Remembered(); n != 0 {
		t.Errorf("%d bad tokens are remembered", n)
	}
	check(t, v, issuer.Token("alice"), nil)
	if n := v.Remembered(); n != 1 {
		t.Errorf("%d tokens are remembered, want 1", n)
	}
}

// However many tokens come, few are remembered; one in use is among them.
func TestMemoryIsBounded(t *testing.T) {
	key := newEdKey()
	v := staticVerifier(t, keySet(edJWK(publicOf(key), "ed")))
	sign := edSigner(key)
	mine := compact(`{"alg":"EdDSA","kid":"ed"}`, claimsWith(nil), sign)
	for n := range auth.MaxRemembered + 200 {
		if n%400 == 0 {
			check(t, v, mine, nil)
		}
		sub := fmt.Sprintf("user-%d", n)
		caller, err := v.Authenticate(t.Context(), bearer(compact(`{"alg":"EdDSA","kid":"ed"}`, claimsWith(map[string]any{"sub": sub}), sign)))
		if err != nil || caller.Subject != sub {
			t.Fatalf("got %q, %v; want %s", caller.Subject, err, sub)
		}
		if n := v.Remembered(); n > auth.MaxRemembered {
			t.Fatalf("%d tokens are remembered, want at most %d", n, auth.MaxRemembered)
		}
	}
	check(t, v, mine, nil)
}

// Callers are never mixed up, whatever happens at once.
func TestConcurrentCallers(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			sub, scope := fmt.Sprintf("user-%d", n), []string{auth.ScopeRead, auth.ScopeWrite}[n%2]
			h := bearer(issuer.Token(sub, scope))
			for range 200 {
				caller, err := v.Authenticate(t.Context(), h)
				if err != nil || caller.Subject != sub || caller.Allows(auth.ScopeRead) != (n%2 == 0) || caller.Allows(auth.ScopeWrite) != (n%2 == 1) {
					t.Errorf("%s got %+v, %v", sub, caller, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkAuthenticate(b *testing.B) {
	issuer := authtest.NewIssuer(b)
	for _, alg := range []struct {
		name, kid string
		sign      signer
	}{
		{"RS256", authtest.RSAKeyID, rsaSigner(issuer.RSAKey, crypto.SHA256)},
		{"ES256", authtest.KeyID, ecSigner(issuer.ECKey, crypto.SHA256)},
	} {
		h := bearer(compact(fmt.Sprintf(`{"alg":%q,"kid":%q}`, alg.name, alg.kid), claimsWith(nil), alg.sign))
		keys, err := auth.StaticKeys(issuer.JWKS())
		must(err)
		v := issuer.VerifierOf(b, auth.Config{Keys: keys})
		b.Run(alg.name+"/remembered", func(b *testing.B) { benchmark(b, h, func() *auth.Verifier { return v }) })
		b.Run(alg.name+"/checked", func(b *testing.B) {
			// A new verifier remembers nothing, and costs next to nothing.
			benchmark(b, h, func() *auth.Verifier { return issuer.VerifierOf(b, auth.Config{Keys: keys}) })
		})
	}
}

func benchmark(b *testing.B, h http.Header, verifier func() *auth.Verifier) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verifier().Authenticate(b.Context(), h); err != nil {
			b.Fatal(err)
		}
	}
}
