package auth_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A token in the cache expires too.
func TestCachedTokenExpires(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		v, token := issuer.Verifier(t, auth.Config{}), issuer.Token("alice")
		check(t, v, token, "")
		time.Sleep(authtest.Lifetime + 30*time.Second - 1)
		check(t, v, token, "")
		time.Sleep(time.Nanosecond)
		check(t, v, token, expired)
	})
}

// A fetch that finds the same document doesn't empty the cache of tokens.
func TestUnchangedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a", "b")
		i.check(t, "a", "")
		time.Sleep(time.Hour)
		i.check(t, "b", "")
		if n := i.v.Cached(); n != 2 {
			t.Errorf("%d tokens in the cache, want 2", n)
		}
	})
}

// The cache holds only signed tokens, up to its limit. The next token empties it.
func TestCacheIsBounded(t *testing.T) {
	key := newEdKey()
	v := staticVerifier(t, keySet(newJWK(key.Public(), "")))
	for n := range auth.MaxCached + 1 {
		token := compact(`{"alg":"EdDSA"}`, claimsAnd(fmt.Sprintf(`"jti":%d`, n)), key, unhashed)
		check(t, v, token, "")
		check(t, v, token, "")
		if got, want := v.Cached(), n%auth.MaxCached+1; got != want {
			t.Fatalf("%d tokens in the cache, want %d", got, want)
		}
	}
	check(t, v, authtest.NewIssuer(t).Token("alice"), invalid)
	if n := v.Cached(); n != 1 {
		t.Errorf("%d tokens in the cache, want none that is invalid", n-1)
	}
}
