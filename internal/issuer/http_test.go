package issuer

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"

	"example.com/plantstore/test/harness"
)

const (
	form     = "application/x-www-form-urlencoded"
	grantFor = "grant_type=client_credentials&client_id="
)

// newServer serves an issuer in front of a service that answers 418.
func newServer(t *testing.T) (*Issuer, string) {
	t.Helper()
	i, err := Open(t.TempDir(), []string{"read", "write"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(i.Handler(Access{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	t.Cleanup(s.Close)
	return i, s.URL
}

// do sends a request. A user that is not "" goes into HTTP Basic.
func do(t *testing.T, method, url, user, contentType, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if user != "" {
		r.SetBasicAuth(user, "any secret")
	}
	return harness.Send(t, r)
}

// Every answer of the issuer has these headers.
func checkHeaders(t *testing.T, resp *http.Response) {
	t.Helper()
	headers := map[string]string{"Cache-Control": "no-store", "Pragma": "no-cache", "Content-Type": "application/json", "X-Content-Type-Options": "nosniff"}
	for name, want := range headers {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
}

// verify returns the claims of a token, which must be signed by the issuer.
func verify(t *testing.T, i *Issuer, token string) (c map[string]any) {
	t.Helper()
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(i.JWKS()), &keys); err != nil || len(keys.Keys) != 1 || !keys.Keys[0].IsPublic() {
		t.Fatalf("got %s, %v; want one public key", i.JWKS(), err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if h := parsed.Headers[0]; h.KeyID != keys.Keys[0].KeyID || h.ExtraHeaders["typ"] != "at+jwt" {
		t.Errorf("got the header %+v", h)
	}
	if err := parsed.Claims(keys.Keys[0], &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestToken(t *testing.T) {
	i, base := newServer(t)
	long := strings.Repeat("é", 127) + "x"
	ids := map[string]bool{"": true}
	for _, test := range []struct{ user, body, client, scope string }{
		{"", grantFor + "alice", "alice", "read write"}, // no scope means all
		{"", grantFor + "alice&scope=read", "alice", "read"},
		{"", grantFor + "alice&scope=write+read", "alice", "write read"},
		{"", grantFor + "alice&client_secret=x&resource=a&resource=b", "alice", "read write"}, // which are ignored
		{"", grantFor + "%F0%9F%8C%B1+%2B%25", "🌱 +%", "read write"},
		{"", grantFor + url.QueryEscape(long), long, "read write"},
		{"al%3Aice+%C3%A9", grantFor + "bob", "al:ice é", "read write"},
	} {
		before := time.Now().Unix()
		resp, answer := do(t, "POST", base+TokenPath, test.user, form+"; charset=UTF-8", test.body)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", test.body, resp.Status, answer)
			continue
		}
		checkHeaders(t, resp)
		// README and others cut the token out of the answer by its place.
		token := strings.Split(answer, `"`)[3]
		if want := `{"access_token":"` + token + `","token_type":"Bearer","expires_in":3600,"scope":"` + test.scope + "\"}\n"; answer != want {
			t.Errorf("got %s want %s", answer, want)
		}
		c := verify(t, i, token)
		issued, _ := c["iat"].(float64)
		id, _ := c["jti"].(string)
		if int64(issued) < before || int64(issued) > time.Now().Unix() || ids[id] {
			t.Errorf("got %v, want the time %d and a new id", c, before)
		}
		ids[id] = true
		want := map[string]any{
			"iss": Name, "sub": test.client, "aud": Audience, "client_id": test.client,
			"iat": issued, "exp": issued + 3600, "jti": id, "scope": test.scope,
		}
		if !maps.Equal(c, want) {
			t.Errorf("%s: got %v, want %v", test.body, c, want)
		}
	}
}

func TestBadRequests(t *testing.T) {
	_, base := newServer(t)
	full := grantFor + "alice&x=" + strings.Repeat("x", 16<<10-len(grantFor+"alice&x="))
	if resp, answer := do(t, "POST", base+TokenPath, "", form, full); resp.StatusCode != http.StatusOK {
		t.Errorf("a body of 16 KiB: %s %s", resp.Status, answer)
	}
	for name, test := range map[string]struct {
		user, contentType, body string
		status                  int
		code                    string
	}{
		"larger than 16 KiB":     {"", form, full + "x", 400, "invalid_request"},
		"bad encoding":           {"", form, grantFor + "alice&scope=%zz", 400, "invalid_request"},
		"no media type":          {"", "", grantFor + "alice", 400, "unsupported_grant_type"},
		"other grant":            {"", form, "grant_type=password&client_id=alice", 400, "unsupported_grant_type"},
		"no client":              {"", form, grantFor, 400, "invalid_client"},
		"client of spaces":       {"", form, grantFor + "+%C2%A0", 400, "invalid_client"},
		"client too long":        {"", form, grantFor + strings.Repeat("x", 256), 400, "invalid_client"},
		"client not UTF-8":       {"", form, grantFor + "%ff", 400, "invalid_client"},
		"Basic with other bytes": {"%zz", form, grantFor + "alice", 401, "invalid_client"},
		"other scope":            {"", form, grantFor + "alice&scope=read+admin", 400, "invalid_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, answer := do(t, "POST", base+TokenPath, test.user, test.contentType, test.body)
			checkFailure(t, resp, answer, test.status, test.code)
		})
	}
	for body, code := range map[string]string{"x=y": "unsupported_grant_type", "grant_type=client_credentials": "invalid_client"} {
		resp, answer := do(t, "POST", base+TokenPath+"?"+grantFor+"alice", "", form, body)
		checkFailure(t, resp, answer, 400, code) // nothing in the URL counts
	}
}

// checkFailure checks an error response (RFC 6749 section 5.2).
func checkFailure(t *testing.T, resp *http.Response, answer string, status int, code string) {
	t.Helper()
	checkHeaders(t, resp)
	var got failure
	if err := json.Unmarshal([]byte(answer), &got); err != nil || resp.StatusCode != status || got.Code != code {
		t.Errorf("got %d %s, %v; want %d %s", resp.StatusCode, answer, err, status, code)
	}
	bad := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
	if got.Description == "" || strings.ContainsFunc(got.Description, bad) {
		t.Errorf("the description is empty or has forbidden characters: %q", got.Description)
	}
	if basic := strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic "); basic != (status == http.StatusUnauthorized) {
		t.Errorf("status %d with WWW-Authenticate %q", status, resp.Header.Get("WWW-Authenticate"))
	}
}

// Other methods are refused, and other paths are the service's.
func TestPaths(t *testing.T) {
	i, base := newServer(t)
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", keysPath, 200, ""}, {"GET", TokenPath, 405, "POST"}, {"OPTIONS", TokenPath, 405, "POST"},
		{"POST", "/oauth2%2ftoken", 418, ""}, {"POST", TokenPath + "/", 418, ""}, {"POST", "/" + TokenPath, 418, ""}, {"GET", "/", 418, ""},
	} {
		resp, body := do(t, test.method, base+test.path, "", "", "")
		if resp.StatusCode != test.status || resp.Header.Get("Allow") != test.allow {
			t.Errorf("%+v: %s, Allow: %s", test, resp.Status, resp.Header.Get("Allow"))
		}
		switch {
		case test.status == 405:
			checkFailure(t, resp, body, 405, "invalid_request")
		case test.status == 200 && body != i.JWKS()+"\n":
			t.Errorf("got the keys %s, want %s", body, i.JWKS())
		}
	}
}
