package issuer

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/test/tools"
)

const formType = "application/x-www-form-urlencoded"

// A server is an issuer behind an HTTP server.
type server struct {
	url    string
	issuer *Issuer
	v      *auth.Verifier
}

func newServer(t *testing.T, access Access) *server {
	t.Helper()
	i, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auth.StaticKeys(i.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	v, err := auth.NewVerifier(auth.Config{Issuer: Name, Audiences: []string{Audience}, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(i.Handler(access))
	t.Cleanup(s.Close)
	return &server{s.URL, i, v}
}

// do sends a request and returns the response and its body. It checks the headers
// that every response has.
func (s *server) do(t *testing.T, method, path, body string, set func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", formType)
	}
	if set != nil {
		set(req)
	}
	resp, answer := tools.Send(t, req)
	for name, want := range map[string]string{"Cache-Control": "no-store", "Pragma": "no-cache", "Content-Type": "application/json"} {
		if got := resp.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s: header %s is %q, want %q", method, path, name, got, want)
		}
	}
	return resp, answer
}

// token returns the token for a valid request, and checks the response.
func (s *server) token(t *testing.T, body string, set func(*http.Request)) string {
	t.Helper()
	resp, answer := s.do(t, http.MethodPost, TokenPath, body, set)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s %s", body, resp.Status, answer)
	}
	var got struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if got.TokenType != "Bearer" || got.ExpiresIn != 3600 {
		t.Errorf("got %s", answer)
	}
	if cut := strings.Split(answer, `"`); !strings.HasSuffix(answer, "}\n") || cut[1] != "access_token" || cut[3] != got.AccessToken {
		t.Errorf("got %q; want one line with access_token first", answer)
	}
	return got.AccessToken
}

// caller verifies a token and returns its caller.
func (s *server) caller(t *testing.T, token string) auth.Caller {
	t.Helper()
	caller, err := s.v.Authenticate(t.Context(), http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

// checkFailure checks an error response (RFC 6749 section 5.2).
func checkFailure(t *testing.T, resp *http.Response, answer string, status int, code string) {
	t.Helper()
	var got failure
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if resp.StatusCode != status || got.Code != code {
		t.Errorf("got %d %s, want %d %s", resp.StatusCode, answer, status, code)
	}
	bad := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
	if got.Description == "" || strings.ContainsFunc(got.Description, bad) {
		t.Errorf("the description is empty or has forbidden characters: %q", got.Description)
	}
	if basic := strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic "); basic != (status == http.StatusUnauthorized) {
		t.Errorf("status %d with WWW-Authenticate %q", status, resp.Header.Get("WWW-Authenticate"))
	}
}

func TestToken(t *testing.T) {
	s := newServer(t, Access{})
	before := time.Now().Truncate(time.Second)
	token := s.token(t, "grant_type=client_credentials&client_id=alice&scope=plants%2Fread", nil)
	parts := strings.Split(token, ".")
	var header map[string]string
	decode(t, parts[0], &header)
	if header["alg"] != "ES256" || header["typ"] != "at+jwt" || header["kid"] != publicKey(t, s.issuer.JWKS())["kid"] || len(header) != 3 {
		t.Errorf("got the header %v", header)
	}
	var c claims
	decode(t, parts[1], &c)
	if c.Issuer != Name || c.Audience != Audience || c.Subject != "alice" || c.ClientID != "alice" || c.Scope != "plants/read" {
		t.Errorf("got the claims %+v", c)
	}
	if issued := time.Unix(c.IssuedAt, 0); issued.Before(before) || issued.After(time.Now()) || c.Expires-c.IssuedAt != 3600 {
		t.Errorf("issued at %d, expires at %d, around %v", c.IssuedAt, c.Expires, before)
	}
	var again claims
	decode(t, strings.Split(s.token(t, "grant_type=client_credentials&client_id=alice", nil), ".")[1], &again)
	if c.ID == "" || c.ID == again.ID {
		t.Errorf("two tokens have the jti %q and %q", c.ID, again.ID)
	}
}

func decode(t *testing.T, part string, v any) {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// publicKey returns the only key of a set.
func publicKey(t *testing.T, jwks []byte) map[string]string {
	t.Helper()
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(jwks, &set); err != nil || len(set.Keys) != 1 || set.Keys[0]["d"] != "" {
		t.Fatalf("got %s, %v; want one public key", jwks, err)
	}
	return set.Keys[0]
}

func TestKeys(t *testing.T) {
	s := newServer(t, Access{})
	resp, body := s.do(t, http.MethodGet, KeysPath, "", nil)
	if resp.StatusCode != http.StatusOK || body != string(s.issuer.JWKS()) {
		t.Errorf("GET: %s %s", resp.Status, body)
	}
	resp, body = s.do(t, http.MethodHead, KeysPath, "", nil)
	if resp.StatusCode != http.StatusOK || body != "" {
		t.Errorf("HEAD: %s %s", resp.Status, body)
	}
	clear(s.issuer.JWKS())
	if _, body := s.do(t, http.MethodGet, KeysPath, "", nil); strings.HasPrefix(body, "\x00") {
		t.Error("a change to the result of JWKS changes the issuer's keys")
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	s := newServer(t, Access{})
	for _, path := range []string{"/", "/oauth2", "/oauth2/token/", "//oauth2/token", "/oauth2/Token", "/oauth2/./token", "/.well-known/", "/.well-known/jwks.json/"} {
		resp, answer := s.do(t, http.MethodPost, path, good, nil)
		checkFailure(t, resp, answer, http.StatusNotFound, "invalid_request")
	}
	for _, test := range []struct{ method, path, allow string }{
		{"GET", TokenPath, "POST"},
		{"OPTIONS", TokenPath, "POST"},
		{"post", TokenPath, "POST"},
		{"POST", KeysPath, "GET, HEAD"},
		{"OPTIONS", KeysPath, "GET, HEAD"},
	} {
		resp, answer := s.do(t, test.method, test.path, "", nil)
		checkFailure(t, resp, answer, http.StatusMethodNotAllowed, "invalid_request")
		if allow := resp.Header.Get("Allow"); allow != test.allow {
			t.Errorf("%s %s: Allow is %q, want %q", test.method, test.path, allow, test.allow)
		}
	}
}
