//go:build issuers

package issuers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// callback is the redirect URI of the clients. It is never fetched.
const callback = "http://127.0.0.1/callback"

// An oauthServer is an issuer's OAuth 2.0 endpoints, with the clients web and job,
// whose secret is "secret".
type oauthServer struct{ authorize, token string }

type tokens struct {
	Access string `json:"access_token"`
	ID     string `json:"id_token"`
}

// grant requests tokens from the token endpoint. It is used by goroutines.
func (s oauthServer) grant(t *testing.T, client string, form url.Values) (got tokens) {
	t.Helper()
	req, err := http.NewRequest("POST", s.token, strings.NewReader(form.Encode()))
	if err != nil {
		t.Error(err)
		return got
	}
	req.SetBasicAuth(client, "secret")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, body, err := send(http.DefaultClient, req)
	if err == nil {
		err = json.Unmarshal([]byte(body), &got)
	}
	if err != nil || status != http.StatusOK || got.Access == "" {
		t.Errorf("no token for %s: %d %s, %v", form.Encode(), status, body, err)
	}
	return got
}

// job returns an access token by the client credentials grant.
func (s oauthServer) job(t *testing.T, client string, params url.Values) string {
	t.Helper()
	params.Set("grant_type", "client_credentials")
	return s.grant(t, client, params).Access
}

// login returns the tokens of alice by the authorization code grant. The issuer
// must not ask for anything.
func (s oauthServer) login(t *testing.T, params url.Values) tokens {
	t.Helper()
	params.Set("response_type", "code")
	params.Set("client_id", "web")
	params.Set("redirect_uri", callback)
	var code string
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(req.URL.String(), callback) {
			code = req.URL.Query().Get("code")
			return errors.New("arrived")
		}
		return nil
	}}
	resp, err := browser.Get(s.authorize + "?" + params.Encode())
	if code == "" {
		t.Fatal(fmt.Errorf("no code: %v %w", resp, err))
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}}
	return s.grant(t, "web", form)
}
