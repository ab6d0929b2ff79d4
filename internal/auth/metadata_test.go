package auth_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

const (
	keysURL = "https://keys.test/k?v=1"
	openID  = "https://a.test/.well-known/openid-configuration"
	oauth   = "https://a.test/.well-known/oauth-authorization-server" // of RFC 8414
)

func metadata(issuer, jwksURI string) string {
	return toJSON(map[string]string{"issuer": issuer, "jwks_uri": jwksURI})
}

func TestDiscovery(t *testing.T) {
	valid := metadata("https://a.test", keysURL)
	tokens := authtest.NewIssuer(t)
	const cognito = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Abc123"
	jwks := string(tokens.JWKS())
	for _, test := range []struct {
		issuer    string
		url, page string // the metadata or, for the last ones, the keys
		want      string // in the error, if any
	}{
		{"https://a.test", openID, valid, ""},
		{"https://a.test:8443/realms/%2F", "https://a.test:8443/realms/%2F/.well-known/openid-configuration", metadata("https://a.test:8443/realms/%2F", keysURL), ""},
		{"https://a.test", oauth, valid, ""},
		{"https://a.test/x/y/", oauth + "/x/y", metadata("https://a.test/x/y/", keysURL), ""},
		{"https://a.test", "", "", "oauth-authorization-server: status 404"},
		{"https://a.test/%2F", "", "", "GET https://a.test/%2F/.well-known/openid-configuration: status 404"},
		{"https://a.test", openID, "\ufeff" + strings.Replace(valid, "{", `{"x":"`+"\xff"+`","issuer":"https://b.test",`, 1), ""},
		{"https://a.test", openID, "<html>", "openid-configuration: not a JSON object"},
		{"https://a.test", openID, `{"issuer":["https://a.test"],"jwks_uri":"` + keysURL + `"}`, `its issuer is ""`},
		{"https://a.test", openID, `{"issuer":"https://a.test","jwks_uri":7}`, `the address "" has no host`},
		{"https://a.test", openID, metadata("https://a.test/", keysURL), `its issuer is "https://a.test/", not "https://a.test"`},
		{"https://a.test", openID, `{"issuer":"https://a.test"}`, `the address "" has no host`},
		{"https://a.test", openID, metadata("https://a.test", "http://keys.test/k"), "must be https"},
		{"https://a.test", openID, metadata("https://a.test", "https://keys.test/%"), "not a valid URL"},
		{"https://a.test", openID, metadata("https://a.test", "https://keys.test/missing"), "status 404"},
		// The address of Cognito's keys is known.
		{cognito, cognito + "/.well-known/jwks.json", jwks, ""},
		{"https://cognito-idp.x.amazonaws.com.cn/p", "https://cognito-idp.x.amazonaws.com.cn/p/.well-known/jwks.json", jwks, ""},
		{"https://cognito-idp.x.amazonaws.com.b.test/p", "https://cognito-idp.x.amazonaws.com.b.test/p/.well-known/jwks.json", jwks, "status 404"},
		{"https://b.test/p", "https://b.test/p/.well-known/jwks.json", jwks, "status 404"},
		{"https://oidc.eks.x.amazonaws.com/id/A", "https://oidc.eks.x.amazonaws.com/id/A/.well-known/jwks.json", jwks, "status 404"},
	} {
		s := &site{pages: map[string]string{keysURL: jwks, test.url: test.page}}
		v := newVerifier(t, auth.Config{Issuer: test.issuer}, s, io.Discard)
		checkLoad(t, v, test.want)
		checkLoad(t, v, test.want) // now that the address may be known
		if test.want == "" {
			claims := authtest.Claims("alice")
			claims["iss"] = test.issuer
			check(t, v, tokens.Sign(claims), "")
		}
	}
}

// Each fetch reads the keys at the known address and then the metadata, whose
// address may have changed.
func TestMovedKeys(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		old, tokens := authtest.NewIssuer(t), authtest.NewIssuer(t)
		s := &site{pages: map[string]string{openID: metadata("https://a.test", keysURL), keysURL: string(old.JWKS()), moved: string(tokens.JWKS())}}
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, io.Discard)
		expect := func(issuer *authtest.Issuer, want string, requests ...string) {
			t.Helper()
			checkTook(t, v, issuer, want, 0)
			if !slices.Equal(s.requests, requests) {
				t.Errorf("fetched %q, want %q", s.requests, requests)
			}
			s.requests = nil
		}
		expect(old, "", openID, keysURL)
		expect(tokens, invalid, keysURL, openID) // a search
		s.pages[openID] = metadata("https://a.test", moved)
		expect(tokens, "", keysURL, openID, moved)
		time.Sleep(time.Hour)
		expect(tokens, "", moved, openID) // a refresh
		delete(s.pages, openID)
		time.Sleep(time.Hour)
		expect(tokens, "", moved, openID, oauth)
		expect(tokens, "") // although the metadata is gone
		if err := v.Load(t.Context()); err != nil {
			t.Errorf("fresh keys without metadata: %v", err)
		}
	})
}

// A token that is signed with a new key waits for the key, but not for the metadata,
// unless that leads to the key.
func TestRotatedKeyWithMetadata(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		old, tokens, elsewhere := authtest.NewIssuer(t), authtest.NewIssuer(t), authtest.NewIssuer(t)
		s := &site{pages: map[string]string{openID: metadata("https://a.test", keysURL), keysURL: string(old.JWKS()), moved: string(elsewhere.JWKS())}}
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, io.Discard)
		checkLoad(t, v, "")
		s.delay = 300 * ms
		s.pages[keysURL] = string(tokens.JWKS())
		checkTook(t, v, tokens, "", 300*ms)
		checkTook(t, v, old, invalid, 300*ms) // until the same fetch ends
		s.pages[openID] = metadata("https://a.test", moved)
		checkTook(t, v, elsewhere, "", 900*ms)
	})
}

// checkTook is check with a token of https://a.test that these keys sign. The response
// must take exactly this long.
func checkTook(t *testing.T, v *auth.Verifier, keys *authtest.Issuer, want string, took time.Duration) {
	t.Helper()
	start := time.Now()
	claims := authtest.Claims("alice")
	claims["iss"], claims["exp"] = "https://a.test", 1e10
	check(t, v, keys.Sign(claims), want)
	if d := time.Since(start); d != took {
		t.Errorf("took %v, want %v", d, took)
	}
}

// The log says whether there are new keys.
func TestMetadataFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const both, keysOnly = `msg="token keys not fetched"`, `msg="metadata of the token issuer not fetched; the keys were"`
		var log strings.Builder
		s := &site{pages: map[string]string{}, delay: 2 * time.Second} // so that each failure is logged
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, &log)
		expect := func(want string, messages ...string) {
			t.Helper()
			log.Reset()
			checkLoad(t, v, want)
			lines := strings.SplitAfter(log.String(), "\n")
			if len(lines) != len(messages)+1 {
				t.Errorf("got the log:\n%s", &log)
			}
			for n, message := range messages {
				if !strings.Contains(lines[n], message) || !strings.Contains(lines[n], "status 404") {
					t.Errorf("got %s, want %s", lines[n], message)
				}
			}
		}
		expect("status 404", both)
		s.pages[keysURL] = string(authtest.NewIssuer(t).JWKS())
		s.pages[openID] = metadata("https://a.test", keysURL)
		expect("")
		delete(s.pages, openID)
		expect("", keysOnly)
		delete(s.pages, keysURL)
		expect("status 404", both, both)
	})
}

// A search doesn't wait for metadata that another fetch is reading.
func TestSearchWhileMetadataHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, tokens := authtest.NewIssuer(t), authtest.NewIssuer(t)
		s := &site{pages: map[string]string{openID: metadata("https://a.test", keysURL), keysURL: string(old.JWKS())}}
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, io.Discard)
		checkLoad(t, v, "")
		s.delays = map[string]time.Duration{openID: time.Hour}
		checkTook(t, v, tokens, invalid, time.Second)
		synctest.Wait()
		s.pages[keysURL] = string(tokens.JWKS())
		checkTook(t, v, tokens, "", 0)
		checkTook(t, v, old, invalid, time.Second)
		time.Sleep(10 * time.Second) // the fetch ends
		synctest.Wait()
		if n := strings.Count(strings.Join(s.requests, " "), openID); n != 2 {
			t.Errorf("the metadata was requested %d times, want once after the start", n)
		}
	})
}

// A token in the cache that older keys verified is verified again. Its request doesn't
// wait for two fetches.
func TestOneWaitForCachedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, others := authtest.NewIssuer(t), authtest.NewIssuer(t)
		const url = authtest.IssuerURL + "/.well-known/openid-configuration"
		s := &site{pages: map[string]string{url: metadata(authtest.IssuerURL, keysURL), keysURL: string(tokens.JWKS())}}
		v, token := newVerifier(t, auth.Config{}, s, io.Discard), es256(tokens, lastingClaims)
		check(t, v, token, "")
		checkLoad(t, v, "") // the same keys
		time.Sleep(time.Hour)
		delete(s.pages, keysURL)
		s.delays = map[string]time.Duration{url: time.Hour}
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 900*ms)
			defer cancel()
			v.Authenticate(ctx, bearer(es256(others, lastingClaims))) // starts another fetch when ctx ends
		}()
		start := time.Now()
		check(t, v, token, "")
		if d := time.Since(start); d != time.Second {
			t.Errorf("took %v, want a second", d)
		}
		time.Sleep(10 * time.Second) // the fetch ends
	})
}

// Keys are read at the new address even if those at the old one were being read.
func TestMovedKeysDuringSearch(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		old, tokens := authtest.NewIssuer(t), authtest.NewIssuer(t)
		s := &site{pages: map[string]string{openID: metadata("https://a.test", keysURL), keysURL: string(old.JWKS()), moved: string(tokens.JWKS())}}
		v := newVerifier(t, auth.Config{Issuer: "https://a.test"}, s, io.Discard)
		checkLoad(t, v, "")
		s.delay = 200 * ms
		s.pages[openID] = metadata("https://a.test", moved)
		var group sync.WaitGroup
		group.Go(func() { checkTook(t, v, tokens, "", 700*ms) })
		time.Sleep(300 * ms)                // until the metadata is being read
		checkTook(t, v, tokens, "", 400*ms) // the rest of the old keys, and the new ones
		group.Wait()
	})
}

// The document of RFC 8414 counts only if there is no other.
func TestSecondDocument(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	for name, test := range map[string]struct{ first, want string }{
		"404":           {notFound, ""},
		"403":           {"HTTP/1.1 403 Forbidden\r\n\r\n", ""},
		"429":           {"HTTP/1.1 429 Too Many Requests\r\n\r\n", "openid-configuration: status 429 Too Many Requests"},
		"503":           {"HTTP/1.1 503 Service Unavailable\r\n\r\n", "openid-configuration: status 503 Service Unavailable"},
		"HTML":          {"<html>", "openid-configuration: not a JSON object"},
		"empty":         {ok, "openid-configuration: not a JSON object"},
		"no connection": {"", "openid-configuration: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			pages := map[string]string{keysURL: string(tokens.JWKS()), openID: test.first, oauth: metadata("https://a.test", keysURL)}
			checkLoad(t, newVerifier(t, auth.Config{Issuer: "https://a.test"}, &site{pages: pages}, io.Discard), test.want)
		})
	}
}
