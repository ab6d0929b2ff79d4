package auth_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

func TestCachedTokenExpires(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		v := issuer.Verifier(t)
		token := issuer.Token("alice")
		check(t, v, token, nil)
		time.Sleep(authtest.Lifetime + 30*time.Second - 1)
		check(t, v, token, nil)
		if n := v.Cached(); n != 1 {
			t.Errorf("%d tokens in the cache, want 1", n)
		}
		time.Sleep(time.Nanosecond)
		check(t, v, token, auth.ErrExpiredToken)
		check(t, v, token, auth.ErrExpiredToken)
	})
}

func TestInvalidTokensAreNotCached(t *testing.T) {
	issuer, other := authtest.NewIssuer(t), authtest.NewIssuer(t)
	v := issuer.Verifier(t)
	claims := authtest.Claims("alice")
	claims["exp"] = 1
	check(t, v, issuer.Sign(claims), auth.ErrExpiredToken)
	claims["exp"], claims["nbf"] = 253402300799, 253402300799
	check(t, v, issuer.Sign(claims), auth.ErrInvalidToken)
	check(t, v, other.Token("alice"), auth.ErrInvalidToken)
	check(t, v, issuer.Token(""), auth.ErrInvalidToken)
	if n := v.Cached(); n != 0 {
		t.Errorf("%d invalid tokens in the cache", n)
	}
	check(t, v, issuer.Token("alice"), nil)
	if n := v.Cached(); n != 1 {
		t.Errorf("%d tokens in the cache, want 1", n)
	}
}

func TestCacheIsBounded(t *testing.T) {
	key := newEdKey()
	v := staticVerifier(t, keySet(edJWK(publicOf(key), "ed")))
	for n := range auth.MaxCached + 200 {
		sub := fmt.Sprintf("user-%d", n)
		token := compact(`{"alg":"EdDSA","kid":"ed"}`, claimsWith(map[string]any{"sub": sub}), edSigner(key))
		caller, err := v.Authenticate(t.Context(), bearer(token))
		if err != nil || caller.Subject != sub {
			t.Fatalf("got %q, %v; want %s", caller.Subject, err, sub)
		}
		if n := v.Cached(); n > auth.MaxCached {
			t.Fatalf("%d tokens in the cache, want at most %d", n, auth.MaxCached)
		}
	}
}
