package auth_test

import (
	"crypto"
	"crypto/elliptic"
	"fmt"
	"runtime"
	"strings"
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
		if n := v.Cached(); n != 1 {
			t.Errorf("%d tokens in the cache, want 1", n)
		}
		time.Sleep(time.Nanosecond)
		check(t, v, token, expired)
	})
}

// Anybody can send an unsigned token, so neither its scopes nor a long header is read.
func TestUnsignedTokenIsCheap(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	v := issuer.Verifier(t, auth.Config{})
	header := func(members string) string { return strings.TrimSuffix(es256Header, "}") + "," + members + "}" }
	var many strings.Builder
	for n := range 800 {
		fmt.Fprintf(&many, `"%d":0,`, n)
	}
	for name, token := range map[string][2]string{
		"scopes":         {es256Header, claimsAnd(`"scope":"` + strings.Repeat("a ", 3000) + `"`)},
		"header members": {header(many.String() + `"x":0`), lastingClaims},
		"header objects": {header(`"x":` + strings.Repeat(`{"x":`, 1000) + "0" + strings.Repeat("}", 1000)), lastingClaims},
	} {
		checkCheap(t, v, name, compact(token[0], token[1], newECKey(elliptic.P256()), crypto.SHA256))
	}
	checkCheap(t, v, "dots", strings.Repeat(".", 10240))
}

// checkCheap checks that rejecting a token takes little memory. The text of the token,
// decoded and encoded again, already takes 70 KB.
func checkCheap(t *testing.T, v *auth.Verifier, name, token string) {
	t.Helper()
	check(t, v, token, invalid)
	const runs = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		_, _ = v.Authenticate(t.Context(), bearer(token))
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / runs; n > 100<<10 {
		t.Errorf("%s: %d bytes", name, n)
	}
}

// A cached token is small, however long the token's lists are.
func TestCacheIsSmall(t *testing.T) {
	key := newEdKey()
	v := staticVerifier(t, keySet(newJWK(key.Public(), "")))
	before := heap()
	const count = 200
	for n := range count {
		scopes := strings.Repeat("plants/read ", 280)
		list := strings.TrimSuffix(strings.Repeat(`"plants/write",`, 160), ",")
		token := compact(`{"alg":"EdDSA"}`, claimsAnd(fmt.Sprintf(`"jti":%d,"scope":%q,"scp":[%s]`, n, scopes, list)), key, unhashed)
		checkScopes(t, v, token, "plants/read plants/write")
	}
	if size := (heap() - before) / count; size > 1000 {
		t.Errorf("a token takes %d bytes in the cache", size)
	}
	runtime.KeepAlive(v)
}

// Cached tokens don't keep the keys of earlier fetches in memory.
func TestCacheHoldsOneKeySet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		before := heap()
		const count = 200
		for n := range count {
			i.set(0, strings.Fields("a"+strings.Repeat(fmt.Sprintf(" b%d", n), 50))...)
			check(t, i.v, i.token("x"), invalid) // fetches them
			token := compact(`{"alg":"EdDSA","kid":"a"}`, claimsAnd(fmt.Sprintf(`"jti":%d`, n)), i.key, unhashed)
			check(t, i.v, token, "")
			time.Sleep(2 * time.Second)
			i.fetches()
		}
		if size := (heap() - before) / count; size > 1000 {
			t.Errorf("a token takes %d bytes in the cache", size)
		}
		runtime.KeepAlive(i)
	})
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
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
