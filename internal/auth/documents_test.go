package auth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
)

// checkLoad checks that the keys are loaded or, if want isn't empty, that the error is one
// short line that contains want and no secrets.
func checkLoad(t *testing.T, v *auth.Verifier, want string) {
	t.Helper()
	got := fmt.Sprint(v.Load(t.Context()))
	if got == "<nil>" != (want == "") || !strings.Contains(got, want) ||
		strings.ContainsAny(got, "\r\n") || strings.Contains(got, "secret") || len(got) > 500 {
		t.Errorf("Load: got %s; want one short line with %q", got, want)
	}
}

// The documents of issuers, and the error if their keys can't be loaded. It is also logged.
func TestDocuments(t *testing.T) {
	const (
		issuer      = "https://a.test"
		openID      = issuer + "/.well-known/openid-configuration"
		realm       = issuer + ":8443/realms/%2F"
		notMetadata = "openid-configuration: not a JSON object with the strings issuer and jwks_uri " +
			`(content type "text/plain")`
		hint     = "; if the issuer has no such document, set TOKEN_JWKS_URL"
		cognito  = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Abc123"
		cognitoC = "https://cognito-idp.x.amazonaws.com.cn/p"
		wellKeys = "/.well-known/jwks.json"
	)
	tokens := authtest.NewIssuer(t)
	jwks := string(tokens.JWKS())
	full, long := jwks+strings.Repeat(" ", 512<<10-len(jwks)), strings.Repeat("x", 10000)
	redirect := func(status, to string) string { return "HTTP/1.1 " + status + "\r\nLocation: " + to + "\r\n\r\n" }
	found := metadata(issuer, keysURL)
	for _, test := range []struct {
		issuer, keysURL string // settings
		url, page       string // a document; there are keys at keysURL, and nothing else
		want            string
	}{
		// The metadata.
		{issuer, "", openID, found, ""},
		{realm, "", realm + "/.well-known/openid-configuration", metadata(realm, keysURL), ""},
		{issuer + "/x/y/", "", issuer + "/x/y/.well-known/openid-configuration", metadata(issuer+"/x/y/", keysURL), ""},
		{issuer, "", openID, "\ufeff" + strings.Replace(found, "{", `{"x":"`+"\xff"+`","issuer":"https://b.test",`, 1), ""},
		{issuer, "", issuer + "/.well-known/oauth-authorization-server", found,
			"openid-configuration: status 404 Not Found" + hint},
		{issuer, "", openID, "<html>", notMetadata + hint},
		{issuer, "", openID, `{"jwks_uri":"` + keysURL + `"}`, notMetadata + hint},
		{issuer, "", openID, `{"issuer":["https://a.test"],"jwks_uri":"` + keysURL + `"}`, notMetadata + hint},
		{issuer, "", openID, `{"issuer":"https://a.test"}`, notMetadata + hint},
		{issuer + "/", "", openID, found, `the issuer in ` + openID + ` is "https://a.test", not "https://a.test/": ` +
			"set TOKEN_ISSUER to the first if it is the iss of tokens, or else set TOKEN_JWKS_URL"},
		{issuer, "", openID, metadata(issuer, "http://keys.test/k"),
			"jwks_uri in " + openID + `: the address "http://keys.test/k" must be https`},
		{issuer, "", openID, metadata(issuer, "https://keys.test/%"), "jwks_uri in " + openID + ": not a valid URL"},
		{issuer, "", openID, metadata(issuer, "https://keys.test/missing"), "missing: status 404"},
		// The address of Cognito's keys is known.
		{cognito, "", cognito + wellKeys, jwks, ""},
		{cognitoC, "", cognitoC + wellKeys, jwks, ""},
		{"https://cognito-idp.x.amazonaws.com.b.test/p", "", "https://cognito-idp.x.amazonaws.com.b.test/p" + wellKeys, jwks,
			"status 404 Not Found" + hint},
		// The keys.
		{issuer, openID, openID, full, ""},
		{issuer, openID, openID, full + " ", "more than 524288 bytes"},
		{issuer, openID, openID, "HTTP/1.1 500 Internal Server Error\r\n\r\n" + jwks,
			"GET " + openID + ": status 500 Internal Server Error"},
		{issuer, openID, openID, "HTTP/1.1 599 x\r\n\r\n", ": status 599"},
		{issuer, openID, openID, "\x00\xff<html>",
			`: not a JSON Web Key Set, which looks like {"keys": […]} (content type "text/plain")`},
		{issuer, openID, openID, "", "GET " + openID + ": "},
		{issuer, openID, openID, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + jwks, "GET " + openID + ": "},
		{issuer, openID, openID, "HTTP/1.1 " + long + "\r\n\r\n", "GET " + openID + ": "},
		{issuer, "https://a.test/" + long, openID, "", "status 404"},
		{issuer, "https://user:secret@a.test/keys?secret", openID, "", "GET https://a.test/keys: status 404"},
		{issuer, "https://user:secret@a.test/keys?secret", "https://user:secret@a.test/keys?secret", "",
			"GET https://a.test/keys: "}, // no response
		// Redirects aren't followed, not even to keys. The error names the address.
		{issuer, openID, openID, redirect("301 Moved Permanently", keysURL),
			"status 301 Moved Permanently: the redirect to https://keys.test/k isn't followed"},
		{issuer, openID, openID, redirect("302 Found", "/moved"), "the redirect to https://a.test/moved isn't followed"},
		{issuer, openID, openID, redirect("307 Temporary Redirect", "https://user:secret@b.test/login?secret"),
			"the redirect to https://b.test/login isn't"},
		{issuer, openID, openID, redirect("308 Permanent Redirect", "https://b.test/"+long),
			"the redirect to https://b.test/xxx"},
		{issuer, "", openID, redirect("302 Found", keysURL), "the redirect to https://keys.test/k isn't followed" + hint},
	} {
		t.Run(test.issuer+" "+test.want, func(t *testing.T) {
			n := &network{pages: map[string]string{keysURL: jwks}}
			v := n.verifier(t, auth.Config{Issuer: test.issuer, KeysURL: test.keysURL})
			n.pages[test.url] = test.page
			checkLoad(t, v, test.want)
			if strings.Contains(n.log.String(), hint) != strings.Contains(test.want, hint) {
				t.Errorf("got the log %s; want the advice %q only if the metadata can't be read", &n.log, hint)
			}
			lines := strings.Count(n.log.String(), "\n")
			if lines > 1 || (lines == 0) != (test.want == "") || n.log.Len() > 500 {
				t.Errorf("got the log %s; want a short line for an error", &n.log)
			}
			if test.want == "" {
				claims := authtest.Claims("alice")
				claims["iss"] = test.issuer
				check(t, v, tokens.Sign(claims), "")
			}
		})
	}
}

// endless is a document without end. Its value is the number of bytes requested.
type endless int

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(e), Request: r}, nil
}

func (e *endless) Read(p []byte) (int, error) {
	if *e += endless(len(p)); *e > 4<<20 {
		return 0, io.EOF // otherwise a failing test would fill the memory
	}
	return len(p), nil
}

// Reading stops at the limit, since the whole document is kept in memory.
func TestEndlessDocument(t *testing.T) {
	var document endless
	v := new(network).verifier(t, auth.Config{KeysURL: keysURL})
	v.SetNetwork(&document)
	checkLoad(t, v, "more than 524288 bytes")
	if document > 2<<20 {
		t.Errorf("more than %d bytes were read", 2<<20)
	}
}

// hanging is a document whose body never arrives.
type hanging struct{ ctx context.Context }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&hanging{r.Context()}), Request: r}, nil
}

func (h *hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

// A fetch ends in the middle of a document that hangs, while its request still has time.
func TestHangingDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newRemoteIssuer(t, "a")
		i.v.SetNetwork(new(hanging))
		start := time.Now()
		check(t, i.v, i.token("b"), "newer keys are unknown: GET ")
		if d := time.Since(start); d >= requestTime {
			t.Errorf("took %v, want less than %v", d, requestTime)
		}
		i.v = i.verifier(t, auth.Config{})
		i.v.SetNetwork(new(hanging))
		check(t, i.v, i.token("a"), unavailable)
	})
}

// Only on this machine may metadata and keys be served without TLS.
func TestCheckURL(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost/k":                          "",
		"http://LocalHost:8080/k":                     "",
		"http://127.0.0.1/k":                          "",
		"http://[::1]/k":                              "",
		"http://HOST.docker.internal:8080/k":          "",
		"https://b.test/k":                            "",
		"http://b.test/" + strings.Repeat("x", 10000): "must be https",
		"http://b.test/k":                             "must be https, except on this machine",
		"http://user:secret@b.test/k":                 "must be https",
		"http://127.0.0.1.b.test/k":                   "must be https",
		"http://localhost.b.test/k":                   "must be https",
		"http://localhost@b.test/k":                   "must be https",
		"http://10.0.0.1/k":                           "must be https",
		"ftp://localhost/k":                           "must be https",
		"https://user:secret@/k":                      "no host",
		"file:///etc/hosts":                           "no host",
		"https://b.test/%":                            "not a valid URL",
		"":                                            "no host",
	} {
		got := fmt.Sprint(auth.CheckURL(address))
		if got == "<nil>" != (want == "") || !strings.Contains(got, want) ||
			strings.Contains(got, "secret") || len(got) > 200 {
			t.Errorf("%.100s: got %s; want one short line with %q", address, got, want)
		}
	}
}
