package auth_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

const (
	keysURL = "https://keys.test/k?v=1"
	openID  = "https://a.test/.well-known/openid-configuration"
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
		url, page string // the metadata or, in the last rows, the keys
		want      string // in the error, if any
	}{
		{"https://a.test", openID, valid, ""},
		{"https://a.test:8443/realms/%2F", "https://a.test:8443/realms/%2F/.well-known/openid-configuration", metadata("https://a.test:8443/realms/%2F", keysURL), ""},
		{"https://a.test/x/y/", "https://a.test/x/y/.well-known/openid-configuration", metadata("https://a.test/x/y/", keysURL), ""},
		// The document of RFC 8414 isn't tried.
		{"https://a.test", "https://a.test/.well-known/oauth-authorization-server", valid, "openid-configuration: status 404 Not Found; if the issuer has no such document, set TOKEN_JWKS_URL"},
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

// A discovered is the issuer https://a.test, whose metadata contains the address of its keys.
type discovered struct {
	site
	tokens *authtest.Issuer
	log    strings.Builder
	v      *auth.Verifier
}

func newDiscovered(t *testing.T) *discovered {
	t.Helper()
	d := &discovered{tokens: authtest.NewIssuer(t)}
	d.pages = map[string]string{openID: metadata("https://a.test", keysURL), keysURL: string(d.tokens.JWKS())}
	d.v = newVerifier(t, auth.Config{Issuer: "https://a.test"}, &d.site, &d.log)
	return d
}

// check is like the function check, for a token signed by keys. It must take exactly took,
// and these must be the requests since the last check.
func (d *discovered) check(t *testing.T, keys *authtest.Issuer, want string, took time.Duration, requests ...string) {
	t.Helper()
	start := time.Now()
	claims := authtest.Claims("alice")
	claims["iss"], claims["exp"] = "https://a.test", 1e10
	check(t, d.v, keys.Sign(claims), want)
	if got := time.Since(start); got != took {
		t.Errorf("took %v, want %v", got, took)
	}
	slices.Sort(d.requests) // some are concurrent
	if !slices.Equal(d.requests, requests) {
		t.Errorf("fetched %q, want %q", d.requests, requests)
	}
	d.requests = nil
}

// If the issuer moves its keys, the next fetch finds the new address and the one after it
// uses it, even if there are still keys at the old address. If the metadata can't be read,
// the known address is used.
func TestMovedKeys(t *testing.T) {
	const moved = "https://moved.test/keys"
	synctest.Test(t, func(t *testing.T) {
		d, elsewhere := newDiscovered(t), authtest.NewIssuer(t)
		d.check(t, d.tokens, "", 0, openID, keysURL)
		d.pages[openID], d.pages[moved] = metadata("https://a.test", moved), string(elsewhere.JWKS())
		d.check(t, elsewhere, invalid, 0, openID, keysURL) // a search
		d.check(t, elsewhere, "", 0, openID, moved)
		d.check(t, d.tokens, invalid, 0, openID, moved) // although the old address has its key
		time.Sleep(time.Hour)
		d.check(t, elsewhere, "", 0, openID, moved) // a refresh
		for _, page := range []string{metadata("https://a.test", "http://b.test/keys"), metadata("https://b.test", keysURL), "{}", "<html>", notFound} {
			d.pages[openID] = page
			for range 2 { // a rejected address isn't used the next time either
				time.Sleep(time.Hour)
				d.check(t, elsewhere, "", 0, openID, moved)
			}
		}
		d.check(t, elsewhere, "", 0) // the fetch counts

		// A new address counts even if there are no keys at the old one any more.
		d.pages[openID] = metadata("https://a.test", keysURL)
		delete(d.pages, moved)
		time.Sleep(time.Hour)
		d.check(t, elsewhere, "", 0, openID, moved)
		time.Sleep(30 * time.Second)
		d.check(t, d.tokens, "", 0, openID, keysURL)
	})
}

// A rejected address isn't used even if no other is known.
func TestRejectedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiscovered(t)
		d.pages[openID], d.pages["http://b.test/keys"] = metadata("https://a.test", "http://b.test/keys"), string(d.tokens.JWKS())
		for range 3 {
			d.check(t, d.tokens, "must be https", 0, openID)
			time.Sleep(auth.RetryAfter)
		}
	})
}

// An address from the metadata is kept even if the keys can't be read there.
func TestAddressIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDiscovered(t)
		jwks := d.pages[keysURL]
		delete(d.pages, keysURL)
		d.check(t, d.tokens, "k: status 404", 0, openID, keysURL)
		time.Sleep(auth.RetryAfter)
		d.pages = map[string]string{keysURL: jwks}
		d.check(t, d.tokens, "", 0, openID, keysURL)
	})
}

// A fetch waits the full 3 s for metadata that hangs. If the address of the keys is known,
// that doesn't shorten the time for the keys.
func TestHangingMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, rotated := newDiscovered(t), authtest.NewIssuer(t)
		d.delays = map[string]time.Duration{openID: time.Hour}
		d.check(t, d.tokens, unavailable, 3*time.Second, openID)
		time.Sleep(auth.RetryAfter)
		d.delays[openID] = 2900 * ms
		d.check(t, d.tokens, "", 2900*ms, openID, keysURL)
		d.delays[openID] = time.Hour
		d.pages[keysURL] = string(rotated.JWKS())
		d.check(t, rotated, "", 3*time.Second, openID, keysURL)
		d.delays[keysURL] = time.Hour
		time.Sleep(time.Hour)
		d.check(t, rotated, "", 3*time.Second, openID, keysURL)
	})
}

// An issuer that takes 2.8 s for each document works. The first fetch, by Load or by a
// request, finds only the address of the keys. Later fetches read both documents
// concurrently.
func TestSlowDocuments(t *testing.T) {
	for _, start := range []time.Duration{0, 2900 * ms} {
		synctest.Test(t, func(t *testing.T) {
			d := newDiscovered(t)
			d.delay = 2800 * ms
			if start == 0 {
				d.check(t, d.tokens, unavailable, 3*time.Second, openID, keysURL)
				time.Sleep(auth.RetryAfter)
			} else {
				ctx, cancel := context.WithTimeout(t.Context(), start)
				defer cancel()
				if err := d.v.Load(ctx); err == nil {
					t.Error("the start was long enough")
				}
				d.requests = nil
			}
			d.check(t, d.tokens, "", 2800*ms, openID, keysURL)
			for range 30 {
				old := d.tokens
				d.tokens = authtest.NewIssuer(t)
				d.pages[keysURL] = string(d.tokens.JWKS())
				time.Sleep(time.Hour)
				d.check(t, old, invalid, 2800*ms, openID, keysURL)
				d.check(t, d.tokens, "", 0)
			}
		})
	}
}

// A failed fetch logs one line, which shows whether the keys were read.
func TestMetadataFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nothing, keysOnly = `msg="token keys not fetched" cause="`, `msg="fetched the token keys, but not the issuer's metadata" cause="`
		d := newDiscovered(t)
		pages := d.pages
		d.pages = nil
		expect := func(want, line string) {
			t.Helper()
			time.Sleep(time.Second)
			d.log.Reset()
			checkLoad(t, d.v, want)
			if got := d.log.String(); !strings.Contains(got, line) || strings.Count(got, "\n") > 1 || line == "" && got != "" {
				t.Errorf("got the log:\n%swant one line with %s", got, line)
			}
		}
		expect("status 404", nothing+"GET "+openID+": status 404 Not Found; if the issuer has no such document, set TOKEN_JWKS_URL")
		d.pages = pages
		expect("", "")
		delete(d.pages, openID)
		expect("", keysOnly+"GET "+openID+": status 404 Not Found; ")
		delete(d.pages, keysURL)
		expect("status 404", nothing+"GET https://keys.test/k: status 404 Not Found; GET "+openID+": status 404 Not Found; ")
	})
}
