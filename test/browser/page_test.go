package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// example is the body of a valid create.
var example = openapi.Read().Resource("/plants").Create.Request("").Body

// large is outside the range of integers that JavaScript represents exactly.
const large = "9223372036854775807"

// start starts the program with the settings in env.
func start(t *testing.T, env ...string) *harness.Server {
	return harness.StartServer(t, harness.Environ(env...), t.TempDir())
}

// A user creates, lists and deletes plants, becomes another user, and comes to know what
// went wrong.
func TestPage(t *testing.T) {
	t.Parallel()
	for _, window := range windows {
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server := harness.StartServer(t, harness.Environ(), dir)
			b := openTab(t, server.Base, window)
			b.sees("#token", "You are alice with plants/read plants/write, for 60 minutes.")
			b.sees("#list", "200 OK: none on this page")
			b.accessible("opened")
			b.do(chromedp.Focus(chromedp.CSS("#create button")))
			b.hold()
			b.sees("#create", "200 OK")
			b.sees("#list", "200 OK: 1 on this page", "7\tBasil\t"+"herb") // in two parts, so that make rename finds herb
			if n := b.requests("POST /plants"); n != 1 {
				t.Errorf("a held Enter has created %d times, want once", n)
			}
			b.holds("!document.querySelector('.failed')")
			b.accessible("created")
			b.click("#create button")
			b.sees("#create .failed", "400 Bad Request: id is in use")
			b.accessible("error")

			const name = "Baby's <img src=//elsewhere.test> & $HOME ☘"
			b.fill("#create textarea", openapi.With(openapi.With(example, "id", large), "name", `"`+name+`"`))
			b.click("#create button")
			b.sees("#list", "200 OK: 2 on this page", large+"\t"+name)
			b.sees("#log", "GET /plants?include=id 200 OK", `-H "Authorization: Bearer $TOKEN"`, `"id":`+large)
			b.click("[aria-label='Delete " + large + "']")
			b.sees("#list", "204 No Content", "7\tBasil\t"+"herb\tDelete", name+"\t"+"herb\tDeleted")
			b.accessible("deleted")
			eval[any](b, `navigator.clipboard.writeText = text => { window.copied = text }; document.querySelector('#log details:nth-child(3) button').click()`)
			command := exec.Command("sh", "-c", eval[string](b, "window.copied"))
			if out, err := command.Output(); err != nil || !strings.Contains(string(out), name) {
				t.Errorf("%s returns %s, %v", command, out, err)
			}

			b.fill("[name=limit]", "1")
			b.click("#list button")
			b.sees("#list", "200 OK: 1 on this page, more on the next", "7\tBasil")
			b.click("#next")
			b.sees("#list", large+"\t"+name)
			b.holds("document.getElementById('next').hidden")
			b.fill("[name=limit]", "0")
			b.click("#list button")
			b.sees("#list", "400 Bad Request: limit must be")

			b.fill("[name=limit]", "")
			b.fill("[name=client_id]", "bob")
			b.click("#token button")
			b.sees("#token", "You are bob")
			b.sees("#list", "200 OK: none on this page")
			eval[any](b, "document.querySelector('[name=scope]').value = 'plants/write'")
			b.click("#token button")
			b.sees("#token", "You are bob with plants/write, for")
			b.sees("#list", "403 Forbidden: the access token lacks the scope plants/read")
			b.fill("[name=client_id]", " ")
			b.click("#token button")
			b.sees("#token", "400 Bad Request: client_id must be a name")
			b.sees("#list", "401 Unauthorized") // and not bob's list

			b.fill("[name=client_id]", "alice")
			eval[any](b, "document.querySelector('[name=scope]').value = ''")
			b.click("#token button")
			b.sees("#list", "200 OK: 2 on this page")
			server.Kill()
			b.click("[aria-label='Delete 7']")
			b.sees("#list", "The server doesn't respond. Is it running?", "7\tBasil\t"+"herb\tDelete")
			b.accessible("server gone")
			harness.StartServer(t, harness.Environ(), dir, "-addr", strings.TrimPrefix(server.Base, "http://"))
			eval[any](b, `(button => { button.click(); button.click() })(document.querySelector("[aria-label='Delete 7']"))`)
			b.sees("#list", "204 No Content", "herb\tDeleted")
			b.click("#list button")
			b.sees("#list", "200 OK: 1 on this page", large)
			if n := b.requests("DELETE /plants/7"); n != 2 { // the first met no server
				t.Errorf("a double click has sent %d deletes in all, want 2", n)
			}
		})
	}
}

// With another issuer the user pastes a token, which stays until the tab is closed.
func TestPastedToken(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	b := openTab(t, start(t,
		config.TokenIssuer+"="+authtest.IssuerURL,
		config.TokenAudience+"="+authtest.Audience,
		config.TokenJWKS+"="+string(issuer.JWKS())).Base, windows[0])
	use := func(token string, want ...string) {
		t.Helper()
		b.fill("[name=pasted]", token)
		b.click("#token button")
		b.sees("main", want...)
	}
	b.accessible("without a token")
	for _, token := range []string{"  ", "Bearer " + issuer.Token("carol"), "☘", "x';id;'"} {
		use(token, "Paste one access token, without spaces")
		b.fill("[name=pasted]", "")
	}
	expired := authtest.Claims("carol")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()
	use(issuer.Sign(expired), "401 Unauthorized: the access token has expired")
	use(" "+issuer.Token("carol")+" ", "Requests carry the token that you pasted.", "200 OK: none on this page")
	b.do(chromedp.Reload())
	b.sees("main", "Requests carry the token that you pasted.", "200 OK: none on this page")
}

// Swagger UI works under the policy, carries the token of the page, and fills in nothing
// that hides plants.
func TestSwaggerUI(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t).Base, windows[1])
	b.sees("#token", "You are alice")
	b.do(chromedp.Navigate(b.base + "/docs"))
	execute := func(operation string, want ...string) {
		t.Helper()
		b.click(operation + " .execute")
		b.sees(operation+" .live-responses-table", want...)
	}
	open := func(operation string) string {
		operation = "#operations-plants-" + operation
		b.click(operation + " .opblock-summary-control")
		b.do(chromedp.WaitVisible(chromedp.CSS(operation + " .execute")))
		return operation
	}
	create := open("createPlant")
	b.fill(create+" textarea", openapi.With(example, "id", large))
	execute(create, "200", `"name": "Basil"`)
	execute(create, "400", "id is in use")
	execute(open("listPlants"), "200", `"id": `+large)
	if n := b.requests("GET /plants?include=id"); n != 2 { // the first was that of the page at /
		t.Errorf("%d lists without limit and cursor, want 2", n)
	}
}

// A page of a listed origin uses the service, but can't request a token.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	listed := httptest.NewServer(http.NotFoundHandler())
	defer listed.Close()
	server := start(t, config.CORSOrigins+"="+listed.URL)
	b := openTab(t, server.Base, windows[0])
	b.elsewhere = true
	b.do(chromedp.Navigate(listed.URL))
	body := eval[string](b, `(async (base, token, body) => {
		const request = new URLSearchParams('grant_type=client_credentials&client_id=alice')
		const granted = await fetch(base + '/oauth2/token', { method: 'POST', body: request }).then(() => true, () => false)
		const headers = { 'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json' }
		const response = await fetch(base + '/plants', { method: 'POST', headers, body })
		return granted + ' ' + await response.text()
	})(%q, %q, %q)`, b.base, server.Token(t, url.Values{"client_id": {"alice"}}), example)
	if body != "false "+openapi.With(example, "id", "")+"\n" {
		t.Errorf("the page got %q", body)
	}
}
