package browser

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/tools"
)

// make picture sets this flag.
var picture = flag.String("picture", "", "write the picture of README to this `file`; needs port 8080")

// start starts the program with the settings in env and returns its base address.
func start(t *testing.T, env ...string) string {
	var args []string
	if *picture != "" {
		args = []string{"-addr", "127.0.0.1:8080"}
	}
	return tools.StartServer(t, tools.Environ(env...), t.TempDir(), args...).Base
}

// operation opens an operation of the page. The returned function executes it and
// waits until the answer contains all of want.
func (b *tab) operation(id string) (execute func(want ...string)) {
	b.t.Helper()
	element := "#operations-plants-" + id
	b.click(element + " .opblock-summary-control")
	// Swagger UI shows the button before it is ready to send.
	b.do(chromedp.WaitVisible(chromedp.CSS(element + " .opblock-description")))
	return func(want ...string) {
		b.t.Helper()
		b.click(element + " .execute")
		b.sees(element+" .live-responses-table", want...)
	}
}

// The page has a token for alice, who creates, lists and deletes plants. One id
// is outside the range that JavaScript represents exactly.
func TestPage(t *testing.T) {
	t.Parallel()
	const large, text = "9223372036854775807", "#operations-plants-createPlant textarea"
	for _, width := range []int{390, 1280} { // a phone and a desktop
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			b := openTab(t, start(t), width)
			b.sees("#token", "Requests carry a token for alice")
			b.holds("document.querySelector('#operations-plants-createPlant').getBoundingClientRect().top < 900") // at first sight
			create := b.operation("createPlant")
			create("200", `"name": "Basil"`, `"tag": "herb"`)
			create("400", `"error": 40003`)
			b.click("#operations-plants-createPlant .opblock-summary-control") // closes it
			list := b.operation("listPlants")
			list("200", "[", `"name": "Basil"`)
			if *picture != "" {
				full, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err := errors.Join(err, os.WriteFile(*picture, full, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			b.holds("!document.querySelector('#operations-plants-listPlants .responses-inner > table').checkVisibility()")
			b.click("#operations-plants-listPlants .folded-responses summary")
			b.sees("#operations-plants-listPlants .responses-inner > table", "Two plants", "The token has expired")

			create = b.operation("createPlant")
			b.fill(text, `{"id": `+large+`, "name": "<img src=//elsewhere.test> & ☘"}`)
			create("200", `"name": "<img src=//elsewhere.test> & ☘"`)
			eval[any](b, `(s => { s.value = "id"; s.dispatchEvent(new Event("change", { bubbles: true })) })(
					document.querySelector("#operations-plants-listPlants select"))`)
			list("200", `"id": 7,`, `"id": `+large+`,`)

			remove := b.operation("deletePlant")
			remove("204") // the example, 7
			remove("404", `"error": 40400`)
			b.fill("#operations-plants-deletePlant input", large)
			remove("204")
			list("200", "[]")
		})
	}
}

// A user changes the name. With a rejected one the page says why, and no longer
// acts under the last one. The page has no button for tokens of other issuers.
func TestNames(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t), 390)
	b.sees("#token", "for alice")
	b.holds("![...document.querySelectorAll('.auth-wrapper, .authorization__btn')].some(e => e.checkVisibility())")
	list := b.operation("listPlants")
	b.fill("#token [name=client_id]", "   ")
	b.click("#token button")
	b.sees("#token", "No token: client_id must be a name")
	list("401", `"error": 40100`)
	b.fill("#token [name=client_id]", "bob")
	b.click("#token button")
	b.sees("#token", "Requests carry a token for bob")
	list("200", "[]")
	if faults := b.takeFaults(); len(faults) != 1 {
		t.Errorf("the browser reported %q, want only the failed token request", faults)
	}
}

// With another issuer the user pastes a token, and can log out.
func TestOtherIssuer(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	b := openTab(t, start(t,
		config.TokenIssuer+"="+authtest.IssuerURL,
		config.TokenAudience+"="+authtest.Audience,
		config.TokenJWKS+"="+string(issuer.JWKS())), 390)
	b.sees("#token", "press Authorize and paste it")
	list := b.operation("listPlants")
	b.click(".swagger-ui .btn.authorize")
	b.fill(".auth-container input", issuer.Token("carol"))
	b.click(".auth-container .authorize")
	b.sees("#token", "Requests carry the token that you pasted")
	b.click(".auth-container .btn-done")
	list("200", "[]")
	b.click(".swagger-ui .btn.authorize")
	b.click(".auth-container [aria-label='Remove authorization']")
	b.sees("#token", "press Authorize and paste it")
	b.click(".auth-container .btn-done")
	list("401", `"error": 40100`)
}

// Every text has a contrast of at least 4.5 to 1 (WCAG 2.2), and in dark mode the
// page is inverted. Colors that are partly transparent are not tested.
func TestColors(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t), 1280)
	b.sees("#token", "for alice")
	for _, id := range []string{"createPlant", "listPlants", "deletePlant"} {
		b.operation(id)
		b.click("#operations-plants-" + id + " .folded-responses summary")
	}
	if faint := eval[[]string](b, "%s", faintTexts); len(faint) > 0 {
		t.Errorf("texts with too little contrast, and their ratios: %q", faint)
	}
	dark := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, dark); err != nil {
		t.Fatal(err)
	}
	b.holds("getComputedStyle(document.documentElement).filter.startsWith('invert(0.92)')")
}

const faintTexts = `(() => {
	const luminance = color => color.match(/\d+/g).slice(0, 3).map(c => c / 255)
		.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05)
	const background = e => {
		const color = e ? getComputedStyle(e).backgroundColor : 'rgb(250, 250, 250)'
		return color.startsWith('rgba') ? background(e.parentElement) : color
	}
	return [...document.querySelectorAll('.swagger-ui *')].filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.data?.trim())).map(e => {
		const [dark, light] = [luminance(getComputedStyle(e).color), luminance(background(e))].sort()
		return [light / dark, e.className + ': ' + e.textContent]
	}).filter(([ratio]) => ratio < 4.5).map(String)
})()`

// A page of a listed origin gets a token and uses the service. The browser keeps a
// page of another origin from doing so. Package template checks the same settings
// of a deployment.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	listed, other := httptest.NewServer(http.NotFoundHandler()), httptest.NewServer(http.NotFoundHandler())
	defer listed.Close()
	defer other.Close()
	b := openTab(t, start(t, config.CORSOrigins+"="+listed.URL), 1280)
	b.elsewhere = true
	b.do(chromedp.Navigate(listed.URL))
	grant := b.fetch("/oauth2/token", "application/x-www-form-urlencoded", "", "grant_type=client_credentials&client_id=alice")
	_, token, _ := strings.Cut(grant, `{"access_token":"`)
	token, _, _ = strings.Cut(token, `"`)
	const plant = `{"id": 1, "name": "Basil"}`
	if got := b.fetch("/plants", "application/json", token, plant); got != `{"name":"Basil"}`+"\n" {
		t.Errorf("the page got %q and %q", grant, got)
	}
	b.do(chromedp.Navigate(other.URL))
	if got := b.fetch("/plants", "application/json", token, plant); got != "TypeError: Failed to fetch" {
		t.Errorf("a page of another origin got %q", got)
	}
}

// fetch sends a POST request from the page and returns what the page learns.
func (b *tab) fetch(target, contentType, token, body string) string {
	b.t.Helper()
	return eval[string](b, `fetch(%q, {
		method: 'POST', headers: {'Content-Type': %q, ...(%[3]q && {Authorization: 'Bearer ' + %[3]q, 'Idempotency-Key': 'k'})}, body: %[4]q,
	}).then(response => response.text(), String)`, b.base+target, contentType, token, body)
}
