//go:build issuers

package issuers

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// An issuer is a running issuer and what it is asked for. A nil function means
// that the issuer can't do that.
type issuer struct {
	url        string
	settings   []string // of the plain server, beyond the issuer and the audience
	idAudience string   // of ID tokens, accepted too

	access        func(t *testing.T, scopes ...string) string // an access token for audience
	otherAudience func(t *testing.T) string
	id            func(t *testing.T) string // an ID token
	short         func(t *testing.T) string // an access token that is valid for a second
	rotate        func(t *testing.T)        // makes a new key
	readOnly      bool                      // whether access can have fewer scopes
}

// audience is the audience of access tokens, unless the issuer has its own.
const audience = "urn:plants"

// try runs the plain server with no other settings than the issuer's name and the
// audiences, and checks what it accepts.
func (i issuer) try(t *testing.T) {
	audiences := audience + "," + i.idAudience
	p := program.Start(t, program.Environ(append(i.settings, "TOKEN_ISSUER="+i.url, "TOKEN_AUDIENCE="+audiences)...), t.TempDir())
	var short string
	if i.short != nil {
		short = i.short(t)
	}
	expired := time.After(33 * time.Second) // one second, 30 of leeway, and rounding

	t.Run("create, list, delete", func(t *testing.T) {
		token := i.access(t, "plants/read", "plants/write")
		t.Logf("access token: %s", contents(t, token))
		expect(t, p, token, "POST", "/plants", 200, "Basil")
		expect(t, p, token, "GET", "/plants", 200, "Basil")
		expect(t, p, token, "DELETE", "/plants/7", 204, "")
	})
	if i.readOnly {
		t.Run("read-only token", func(t *testing.T) {
			token := i.access(t, "plants/read")
			expect(t, p, token, "GET", "/plants", 200, "[")
			expect(t, p, token, "POST", "/plants", 403, "40300")
		})
	}
	t.Run("wrong audience", func(t *testing.T) {
		expect(t, p, i.otherAudience(t), "GET", "/plants", 401, "40101")
		expectLog(t, p, "accepted are")
	})
	t.Run("ID token", func(t *testing.T) {
		token := i.id(t)
		t.Logf("ID token: %s", contents(t, token))
		expect(t, p, token, "GET", "/plants", 401, "40101")
		expectLog(t, p, "send the access token")
	})
	if i.rotate != nil {
		t.Run("rotation under load", func(t *testing.T) { i.rotateUnderLoad(t, p) })
	}
	if i.short != nil {
		t.Run("expired token", func(t *testing.T) {
			<-expired
			expect(t, p, short, "GET", "/plants", 401, "40102")
		})
	}
}

// contents returns the header and the claims of a token: the evidence of
// docs/tokens.md.
func contents(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a JWT", token)
	}
	var text string
	for _, part := range parts[:2] {
		b, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	return text
}

// rotateUnderLoad makes a new key while clients get tokens and use them.
func (i issuer) rotateUnderLoad(t *testing.T, p *program.Program) {
	var mu sync.Mutex
	requests := map[string]int{} // by the header of their token, which names its key
	var load sync.WaitGroup
	defer load.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 3 {
		load.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				token := i.access(t, "plants/read")
				header, _, _ := strings.Cut(token, ".")
				expect(t, p, token, "GET", "/plants", 200, "[")
				mu.Lock()
				requests[header]++
				mu.Unlock()
			}
		})
	}
	for keys := range 2 {
		if keys > 0 {
			i.rotate(t)
		}
		tools.Await(t, func() error {
			mu.Lock()
			defer mu.Unlock()
			if n := slices.Sorted(maps.Values(requests)); !t.Failed() && (len(n) <= keys || n[0] < 50) {
				return fmt.Errorf("%d requests with tokens of %d keys, want 50 of each", n, keys+1)
			}
			return nil
		})
	}
}

// expect sends a request and checks the status and a part of the body.
func expect(t *testing.T, p *program.Program, token, method, path string, status int, want string) {
	t.Helper()
	body := ""
	if method == "POST" {
		body = `{"id":7,"name":"Basil"}`
	}
	req, err := http.NewRequest(method, p.Base+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if got, gotBody, err := send(http.DefaultClient, req); err != nil || got != status || !strings.Contains(gotBody, want) {
		t.Errorf("%s %s: got %d %s, %v; want %d %s\n%s", method, path, got, gotBody, err, status, want, lastLine(p))
	}
}

// send returns the status and the body of the response.
func send(client *http.Client, req *http.Request) (status int, body string, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// expectLog checks the last line of the log, which may follow the response.
func expectLog(t *testing.T, p *program.Program, want string) {
	t.Helper()
	tools.Await(t, func() error {
		if line := lastLine(p); !strings.Contains(line, want) {
			return fmt.Errorf("the log says %s; want %q in it", line, want)
		}
		return nil
	})
}

// lastLine returns the last line of the log.
func lastLine(p *program.Program) string {
	lines := strings.Split(strings.TrimSpace(p.Stdout.String()), "\n")
	return lines[len(lines)-1]
}
