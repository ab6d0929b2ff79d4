package auth_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// A site maps addresses to documents, and records what was asked for.
type site struct {
	pages    map[string]string
	requests []string
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	s.requests = append(s.requests, url)
	resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r, Header: http.Header{"Content-Type": {"text/plain"}}}
	if _, ok := s.pages[url]; !ok {
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	}
	resp.Body = io.NopCloser(strings.NewReader(s.pages[url]))
	return resp, nil
}

// issuerKeys returns the keys that are found at the site by the name of the
// issuer, and a verifier of the tokens of alice.
func issuerKeys(t *testing.T, issuer string, s *site) (*auth.RemoteKeySet, *auth.Verifier) {
	t.Helper()
	keys, err := auth.IssuerKeys(issuer, &http.Client{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return keys, authtest.NewIssuer(t).VerifierOf(t, auth.Config{Keys: keys})
}

func metadata(issuer, jwksURI string) string {
	return toJSON(map[string]any{"issuer": issuer, "jwks_uri": jwksURI, "scopes_supported": []string{"openid"}})
}

func TestDiscovery(t *testing.T) {
	const (
		keysURL, httpKeysURL = "https://keys.test/k?v=1", "http://keys.test/k"
		openID               = "https://a.test/.well-known/openid-configuration"
		oauth                = "https://a.test/.well-known/oauth-authorization-server" // of RFC 8414
	)
	valid := metadata("https://a.test", keysURL)
	tokens := authtest.NewIssuer(t)
	for _, test := range []struct {
		name, issuer string
		url, page    string // the metadata
		want         string // in the error, if any
	}{
		{"OpenID Connect", "https://a.test", openID, valid, ""},
		{"OpenID Connect, with a path", "https://a.test:8443/realms/x",
			"https://a.test:8443/realms/x/.well-known/openid-configuration", metadata("https://a.test:8443/realms/x", keysURL), ""},
		{"OpenID Connect, trailing slash", "https://a.test/x/",
			"https://a.test/x/.well-known/openid-configuration", metadata("https://a.test/x/", keysURL), ""},
		{"RFC 8414, after an invalid document", "https://a.test", oauth, valid, ""},
		{"RFC 8414, with a path", "https://a.test/x/y/", oauth + "/x/y", metadata("https://a.test/x/y/", keysURL), ""},
		{"no document", "https://a.test", "", "", "oauth-authorization-server: status 404"},
		{"not JSON", "https://a.test", openID, "<html>", "openid-configuration: not a JSON object"},
		{"other issuer", "https://a.test", openID, metadata("https://a.test/", keysURL), `its issuer is "https://a.test/"`},
		{"no issuer", "https://a.test", openID, `{"jwks_uri":"` + keysURL + `"}`, `its issuer is ""`},
		{"no keys", "https://a.test", openID, `{"issuer":"https://a.test"}`, "jwks_uri"},
		{"unencrypted keys", "https://a.test", openID, metadata("https://a.test", httpKeysURL), "must be https"},
		{"too large", "https://a.test", openID, valid + strings.Repeat(" ", 512<<10), "more than"},
	} {
		t.Run(test.name, bubble(func(t *testing.T) {
			keySet := string(tokens.JWKS())
			s := &site{pages: map[string]string{keysURL: keySet, httpKeysURL: keySet, test.url: test.page}}
			if test.url == oauth {
				s.pages[openID] = "<html>"
			}
			keys, v := issuerKeys(t, test.issuer, s)
			err := keys.Load(t.Context())
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				check(t, v, tokens.Token("alice"), nil)
			} else if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v; want one line with %q", err, test.want)
			}
		}))
	}
}

// The address is found once, and again after a fetch from it failed.
func TestDiscoveredAddressIsKept(t *testing.T) {
	tokens := authtest.NewIssuer(t)
	const document = "https://a.test/.well-known/openid-configuration"
	s := &site{pages: map[string]string{document: metadata("https://a.test", "https://a.test/1"), "https://a.test/1": string(tokens.JWKS())}}
	synctest.Test(t, func(t *testing.T) {
		keys, v := issuerKeys(t, "https://a.test", s)
		for range 2 {
			if err := keys.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.pages = map[string]string{document: metadata("https://a.test", "https://a.test/2"), "https://a.test/2": string(tokens.JWKS())}
		if err := keys.Load(t.Context()); err == nil {
			t.Error("Load of an old address: no error")
		}
		check(t, v, tokens.Token("alice"), nil)
		time.Sleep(time.Hour)
		check(t, v, tokens.Token("alice"), nil) // starts a refresh
		synctest.Wait()
	})
	want := []string{document, "https://a.test/1", "https://a.test/1", "https://a.test/1", document, "https://a.test/2"}
	if !slices.Equal(s.requests, want) {
		t.Errorf("fetched %q, want %q", s.requests, want)
	}
}

func TestCognitoNeedsNoDiscovery(t *testing.T) {
	for issuer, known := range map[string]bool{
		"https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Abc123":  true,
		"https://cognito-idp.cn-north-1.amazonaws.com.cn/cn-north-1_Abc123":   true,
		"https://cognito-idp.eu-central-1.amazonaws.com":                      false,
		"https://cognito-idp.eu-central-1.amazonaws.com.evil.test/pool":       false,
		"https://evil.test/cognito-idp.eu-central-1.amazonaws.com/pool":       false,
		"https://cognito-identity.eu-central-1.amazonaws.com/eu-central-1_Ab": false,
	} {
		s := new(site)
		keys, _ := issuerKeys(t, issuer, s)
		keys.Load(t.Context())
		if got := s.requests[0] == issuer+"/.well-known/jwks.json"; got != known {
			t.Errorf("%s: first fetched %s", issuer, s.requests[0])
		}
	}
}

func TestIssuerWithoutAddress(t *testing.T) {
	for _, issuer := range []string{"urn:plantstore:local", "issuer", "http://issuer.test", "https://", "https://a.test/?x", "https://a.test/#x", "https://a.test/%zz"} {
		if keys, err := auth.IssuerKeys(issuer, nil); err == nil || keys != nil {
			t.Errorf("%s: got %v, %v; want an error", issuer, keys, err)
		}
	}
}
