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

	"example.com/plantstore/internal/testing/harness"
)

const (
	form     = "application/x-www-form-urlencoded"
	grantFor = "grant_type=client_credentials&client_id="
)

// newServer serves an issuer in front of a service that responds with 418.
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

// post requests a token. It sends a user other than "" by HTTP Basic.
func post(t *testing.T, target, user, contentType, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if user != "" {
		r.SetBasicAuth(user, "any secret")
	}
	resp, body := harness.Send(t, r)
	checkHeaders(t, resp)
	return resp, body
}

// checkHeaders checks the headers that all of the issuer's responses with a body have.
func checkHeaders(t *testing.T, resp *http.Response) {
	t.Helper()
	headers := map[string]string{
		"Cache-Control":          "no-store",
		"Pragma":                 "no-cache",
		"Content-Type":           "application/json",
		"X-Content-Type-Options": "nosniff",
	}
	for name, want := range headers {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
}

// claims returns the claims of a token, which must be signed with the issuer's key.
func claims(t *testing.T, i *Issuer, token string) (c map[string]any) {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(i.JWKS()), &set); err != nil || len(set.Keys) != 1 || !set.Keys[0].IsPublic() {
		t.Fatalf("got the keys %s, %v; want a public one", i.JWKS(), err)
	}
	key := set.Keys[0]
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	h := parsed.Headers[0]
	if h.KeyID != key.KeyID || h.Algorithm != key.Algorithm || h.ExtraHeaders["typ"] != "at+jwt" || key.Use != "sig" {
		t.Errorf("got the header %+v and the key %s", h, i.JWKS())
	}
	if err := parsed.Claims(key, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestToken(t *testing.T) {
	i, base := newServer(t)
	long := strings.Repeat("é", 127) + "x"
	ids := map[any]bool{"": true, nil: true}
	for _, test := range []struct{ user, body, client, scope string }{
		{"", grantFor + "alice", "alice", "read write"}, // no scope means all
		{"", grantFor + "alice&scope=write+read", "alice", "write read"},
		// The other parameters are ignored.
		{"", grantFor + "alice&client_secret=x&resource=a&resource=b", "alice", "read write"},
		{"", grantFor + "%F0%9F%8C%B1+%2B%25&scope=read", "🌱 +%", "read"},
		{"", grantFor + url.QueryEscape(long), long, "read write"},
		// Swagger UI and curl -u send a client as it is, and OAuth libraries encode it.
		{"al%ice+é", "grant_type=client_credentials&scope=", "al%ice+é", "read write"},
		{"100%", "grant_type=client_credentials", "100%", "read write"},
		{"alice%40example.com", "grant_type=client_credentials", "alice@example.com", "read write"},
		{"a%2Bb%3A%C3%A9", "grant_type=client_credentials", "a+b:é", "read write"},
		{"a+b", "grant_type=client_credentials", "a+b", "read write"},
	} {
		before := time.Now().Unix()
		resp, body := post(t, base+TokenPath, test.user, form+"; charset=UTF-8", test.body)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", test.body, resp.Status, body)
			continue
		}
		// README and others extract the token by its position.
		token := strings.Split(body, `"`)[3]
		wantBody := `{"access_token":"` + token + `","token_type":"Bearer","expires_in":3600,` +
			`"scope":"` + test.scope + "\"}\n"
		if body != wantBody {
			t.Errorf("got %s want %s", body, wantBody)
		}
		c := claims(t, i, token)
		issued, _ := c["iat"].(float64)
		if int64(issued) < before || int64(issued) > time.Now().Unix() || ids[c["jti"]] {
			t.Errorf("got %v, want the time %d and a new id", c, before)
		}
		ids[c["jti"]] = true
		want := map[string]any{
			"iss": Name, "sub": test.client, "aud": Audience, "client_id": test.client,
			"iat": issued, "exp": issued + 3600, "jti": c["jti"], "scope": test.scope,
		}
		if !maps.Equal(c, want) {
			t.Errorf("%s: got %v, want %v", test.body, c, want)
		}
	}
}

// Error responses have the form of RFC 6749 section 5.2.
func TestBadRequests(t *testing.T) {
	_, base := newServer(t)
	for name, test := range map[string]struct {
		user, contentType, body string
		status                  int
		code                    string
	}{
		"bad encoding":     {"", form, grantFor + "alice&scope=%zz", 400, "invalid_request"},
		"too large":        {"", form, grantFor + "alice&x=" + strings.Repeat("x", maxBody), 400, "invalid_request"},
		"no media type":    {"", "", grantFor + "alice", 400, "unsupported_grant_type"},
		"other grant":      {"", form, "grant_type=password&client_id=alice", 400, "unsupported_grant_type"},
		"no client":        {"", form, "grant_type=client_credentials", 400, "invalid_client"},
		"client of spaces": {"", form, grantFor + "+%C2%A0", 400, "invalid_client"},
		"client too long":  {"", form, grantFor + strings.Repeat("x", 256), 400, "invalid_client"},
		"client not UTF-8": {"", form, grantFor + "%ff", 400, "invalid_client"},
		"Basic, no client": {" ", form, grantFor + "alice", 401, "invalid_client"},
		"other scope":      {"", form, grantFor + "alice&scope=read+admin", 400, "invalid_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			// Parameters in the URL are ignored.
			resp, body := post(t, base+TokenPath+"?"+grantFor+"alice", test.user, test.contentType, test.body)
			var got errorResponse
			if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != test.status || got.Code != test.code {
				t.Errorf("got %d %s, %v; want %d %s", resp.StatusCode, body, err, test.status, test.code)
			}
			forbidden := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
			if got.Description == "" || strings.ContainsFunc(got.Description, forbidden) {
				t.Errorf("the description is empty or has forbidden characters: %q", got.Description)
			}
			basic := strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic ")
			if basic != (test.status == http.StatusUnauthorized) {
				t.Errorf("status %d with WWW-Authenticate %q", test.status, resp.Header.Get("WWW-Authenticate"))
			}
		})
	}
}

// Other methods are rejected, pages from other origins get no token, and requests for other
// paths reach the service.
func TestPaths(t *testing.T) {
	i, base := newServer(t)
	const ownPage, otherPage = "same-origin", "cross-site"
	for _, test := range []struct {
		method, path, site string
		status             int
		allow, body        string
	}{
		{"GET", keysPath, "", 200, "", i.JWKS() + "\n"},
		{"HEAD", keysPath, "", 200, "", ""},
		{"GET", TokenPath, "", 405, "POST",
			`{"error":"invalid_request","error_description":"the method must be POST"}` + "\n"},
		{"POST", TokenPath, otherPage, 403, "",
			`{"error":"access_denied","error_description":"no token for a page of another origin"}` + "\n"},
		{"POST", TokenPath, ownPage, 400, "",
			`{"error":"unsupported_grant_type","error_description":` +
				`"the body must be application/x-www-form-urlencoded, with grant_type=client_credentials"}` + "\n"},
		{"POST", "/oauth2%2ftoken", "", 418, "", ""}, {"POST", TokenPath + "/", "", 418, "", ""},
		{"POST", "/" + TokenPath, "", 418, "", ""}, {"GET", "/", "", 418, "", ""},
	} {
		r, err := http.NewRequest(test.method, base+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Sec-Fetch-Site", test.site)
		resp, body := harness.Send(t, r)
		if resp.StatusCode != test.status || resp.Header.Get("Allow") != test.allow || body != test.body {
			t.Errorf("%+v: %s, Allow: %s, %s", test, resp.Status, resp.Header.Get("Allow"), body)
		}
		if test.status != 418 {
			checkHeaders(t, resp)
		}
	}
}
