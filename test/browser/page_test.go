package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// start starts the program with the settings in env.
func start(t *testing.T, env ...string) *harness.Server {
	return harness.StartServer(t, harness.Environ(env...), t.TempDir())
}

// operation opens an operation of the page. The returned function executes it,
// with the button at the lower edge of the window, and waits until the response
// contains all of want. The status must then be in view.
func (b *tab) operation(id string) (execute func(want ...string)) {
	b.t.Helper()
	element := "#operations-plants-" + id
	b.click(element + " .opblock-summary-control")
	// Swagger UI shows the button before it is ready to send.
	b.do(chromedp.WaitVisible(chromedp.CSS(element + " .opblock-description")))
	return func(want ...string) {
		b.t.Helper()
		eval[any](b, "document.querySelector(%q).scrollIntoView({block: 'end'})", element+" .execute")
		b.click(element + " .execute")
		b.sees(element+" .live-response", want...)
		b.inView(element + " .live-response > p")
	}
}

// example is the body of a valid create.
var example = openapi.Read().Resource("/plants").Create.Request("").Body

// The page has a token for alice, who creates, lists and deletes plants. One id
// is outside the range that JavaScript represents exactly.
func TestPage(t *testing.T) {
	t.Parallel()
	const large = "9223372036854775807"
	for _, window := range windows {
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, start(t).Base, window)
			b.sees("#token", "Requests carry a token for alice")
			b.inView("#operations-plants-deletePlant")
			b.holds("getComputedStyle(document.documentElement).filter.startsWith('invert(0.92)') === " + fmt.Sprint(strings.HasSuffix(window, "dark")))
			b.accessible("opened")
			create := b.operation("createPlant")
			b.accessible("create open")
			create("200", `"name": "Basil"`, `"tag": "herb"`)
			b.accessible("after create")
			for body, want := range map[string]string{"": "The body is empty", `{"id": 7,}`: "The body is not valid JSON: look at line 1, column 10"} {
				b.fill("#operations-plants-createPlant textarea", body)
				b.click("#operations-plants-createPlant .execute")
				b.sees("#operations-plants-createPlant .validation-errors", want)
				b.holds("!document.querySelector('#operations-plants-createPlant .live-response')")
			}
			b.accessible("broken body")
			b.fill("#operations-plants-createPlant textarea", example)
			create("400", `"error": 40003`)
			const name = "<img src=//elsewhere.test> & ☘"
			b.fill("#operations-plants-createPlant textarea", openapi.With(openapi.With(example, "id", large), "name", `"`+name+`"`))
			create("200", `"name": "`+name+`"`)
			b.click("#operations-plants-createPlant .opblock-summary-control") // closes it
			list := b.operation("listPlants")
			list("200", "7\tBasil\therb", large+"\t"+name)
			b.accessible("list")
			b.click("#operations-plants-listPlants .live-response summary")
			b.sees("#operations-plants-listPlants .live-response", `"id": 7,`, `"id": `+large+`,`)
			b.fill("#operations-plants-listPlants input[placeholder=limit]", "1")
			list("200", "7\tBasil", "Next page")
			b.clickButton("Next page")
			b.sees("#operations-plants-listPlants .live-response", large+"\t")
			b.clickButton("First page")
			b.sees("#operations-plants-listPlants .live-response", "7\tBasil", "Next page")

			remove := b.operation("deletePlant")
			remove("204") // the example, 7
			b.accessible("after delete")
			remove("404", `"error": 40400`)
			b.fill("#operations-plants-deletePlant input", "")
			b.click("#operations-plants-deletePlant .execute")
			b.sees("#operations-plants-deletePlant .validation-errors", "Required field is not provided")
			b.holds("!document.querySelector('#operations-plants-deletePlant .live-response')")
			b.fill("#operations-plants-deletePlant input", large)
			remove("204")
			list("200", "[]")
			b.operation("createPlant") // opens it again
			eval[any](b, "document.querySelectorAll('.documented-responses').forEach(details => details.open = true)")
			b.holds("[...document.querySelectorAll('.documented-responses')].every(details => details.offsetHeight < innerHeight)")
			b.accessible("documented responses")
			eval[any](b, "document.querySelectorAll('details').forEach(details => details.open = true)")
			b.sees("#operations-plants-listPlants .documented-responses", "Two plants", "The token has expired", "What is wrong with the token")
			b.holds("[...document.querySelectorAll('.documented-responses')].every(details => details.innerText.split('X-Content-Type-Options').length === 2)")
			b.accessible("unfolded")
		})
	}
}

// A user changes the name. With a rejected one the page says why, and no longer
// acts under the last one. The page has no button for tokens of other issuers.
func TestNames(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t).Base, windows[0])
	b.sees("#token", "for alice")
	b.holds("![...document.querySelectorAll('.auth-wrapper, .authorization__btn')].some(e => e.checkVisibility())")
	list := b.operation("listPlants")
	b.fill("#token [name=client_id]", "   ")
	b.sees("#token", "still carry the token for alice")
	b.click("#token button")
	b.sees("#token", "Enter a name, not only spaces.")
	list("401", `"error": 40100`, "Get a new token")
	b.fill("#token [name=client_id]", strings.Repeat("x", 256))
	b.click("#token button")
	b.sees("#token", "No token: client_id must be a name")
	b.fill("#token [name=client_id]", "bob")
	b.clickButton("Get a new token")
	b.sees("#token", "Requests carry a token for bob")
	b.sees("#operations-plants-listPlants .live-response", "200", "[]")
}

// A user chooses a narrower scope.
func TestScope(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t).Base, windows[0])
	b.sees("#token", "for alice, valid")
	eval[any](b, "(s => { s.value = 'plants/write'; s.dispatchEvent(new Event('input', {bubbles: true})) })(document.querySelector('#token select'))")
	b.sees("#token", "still carry the token for alice.")
	b.click("#token button")
	b.sees("#token", "for alice with only plants/write")
	b.operation("listPlants")("403", `"error": 40300`)
	b.operation("createPlant")("200")
}

// With the keyboard alone, a user lists and deletes plants, and what was open is open
// again after a reload. The address is a link to the operation.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	server := start(t)
	token := server.Token(t, url.Values{"client_id": {"alice"}})
	for id := range 3 {
		req, err := http.NewRequest("POST", server.Base+"/plants", strings.NewReader(openapi.With(example, "id", fmt.Sprint(id))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if resp, body := harness.Send(t, req); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, body)
		}
	}
	b := openTab(t, server.Base, windows[1])
	eval[any](b, "location.hash = '#/plants/listPlants'")
	b.do(chromedp.Reload())
	const response = "#operations-plants-listPlants .live-response"
	b.sees("#operations-plants-listPlants .opblock-description", "Returns your plants")
	b.sees("#token", "for alice")
	focused := func(label string) {
		t.Helper()
		b.holds(fmt.Sprintf("(document.activeElement.ariaLabel ?? document.activeElement.innerText) === %q", label))
	}
	b.do(chromedp.Focus(chromedp.CSS("#operations-plants-listPlants .execute")))
	for range 2 {
		b.press()
		b.sees(response, "0\tBasil", "2\tBasil")
		focused("Execute")
	}
	b.do(chromedp.Focus(chromedp.CSS("[aria-label='Delete 1']")))
	b.press()
	b.do(chromedp.WaitVisible(chromedp.CSS("[aria-label='Delete 2']:focus")))
	b.sees(response, "0\tBasil", "2\tBasil")
	b.holds(`!document.querySelector("[aria-label='Delete 1']")`)
	b.operation("deletePlant")
	b.holds("location.hash === '#/plants/deletePlant'")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#operations-plants-listPlants.is-open")),
		chromedp.WaitVisible(chromedp.CSS("#operations-plants-deletePlant.is-open")))
}

// The page says that the server is stopped, and keeps its token.
func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := harness.StartServer(t, harness.Environ(), dir)
	b := openTab(t, server.Base, windows[0])
	b.sees("#token", "for alice")
	list := b.operation("listPlants")
	list("200", "[]")
	server.Kill()
	const stopped = "The server doesn't respond. Is it running?"
	list(stopped)
	b.click("#token button")
	b.sees("#token", stopped)
	harness.StartServer(t, harness.Environ(), dir, "-addr", strings.TrimPrefix(server.Base, "http://"))
	list("200", "[]")
}

// With another issuer the user pastes a token, and can log out.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	b := openTab(t, start(t,
		config.TokenIssuer+"="+authtest.IssuerURL,
		config.TokenAudience+"="+authtest.Audience,
		config.TokenJWKS+"="+string(issuer.JWKS())).Base, windows[0])
	b.sees("#token", "press Authorize and paste it")
	list := b.operation("listPlants")
	authorize := func(token string) {
		b.fill(".auth-container input", token)
		b.click(".auth-container .authorize")
		b.sees("#token", "Requests carry the token that you pasted")
		b.click(".auth-container .btn-done")
	}
	b.click(".swagger-ui .btn.authorize")
	expired := authtest.Claims("carol")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()
	authorize(issuer.Sign(expired))
	list("401", `"error": 40102`)
	b.click(".swagger-ui .btn.authorize")
	b.click(".auth-container [aria-label='Remove authorization']")
	b.sees("#token", "press Authorize and paste it")
	b.click(".auth-container .btn-done")
	list("401", `"error": 40100`)
	b.clickButton("Paste a token")
	b.fill(".auth-container input", issuer.Token("carol"))
	b.click(".auth-container .authorize")
	b.sees("#operations-plants-listPlants .live-response", "200", "[]")
	b.holds("!document.querySelector('.auth-container')")
}

// A page of a listed origin gets a token and uses the service.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	listed := httptest.NewServer(http.NotFoundHandler())
	defer listed.Close()
	b := openTab(t, start(t, config.CORSOrigins+"="+listed.URL).Base, windows[0])
	b.elsewhere = true
	b.do(chromedp.Navigate(listed.URL))
	body := eval[string](b, `(async (base, body) => {
		const request = new URLSearchParams('grant_type=client_credentials&client_id=alice')
		const grant = await (await fetch(base + '/oauth2/token', { method: 'POST', body: request })).json()
		const headers = { 'Authorization': 'Bearer ' + grant.access_token, 'Content-Type': 'application/json', 'Idempotency-Key': 'k' }
		const response = await fetch(base + '/plants', { method: 'POST', headers, body })
		return response.text()
	})(%q, %q)`, b.base, example)
	if body != openapi.With(example, "id", "")+"\n" {
		t.Errorf("the page got %q", body)
	}
}
