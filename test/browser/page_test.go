package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"

	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// start starts the program with the settings in env and returns its base address.
func start(t *testing.T, env ...string) string {
	return tools.StartServer(t, tools.Environ(env...), t.TempDir()).Base
}

// widths are those of a phone and of a desktop.
var widths = []int64{390, 1280}

func at(t *testing.T, width int64, test func(*testing.T)) {
	t.Run(fmt.Sprintf("%dpx", width), test)
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

// A user of the page gets a token with one click, and then creates, lists and
// deletes plants. One id is outside the range that JavaScript represents exactly.
func TestPage(t *testing.T) {
	const large, text = "9223372036854775807", "#operations-plants-createPlant textarea"
	for _, width := range widths {
		at(t, width, func(t *testing.T) {
			b := openTab(t, start(t), width)
			b.sees("#token", "Get a token")
			if top := eval[int64](b, "Math.round(document.querySelector('#operations-plants-createPlant').getBoundingClientRect().top)"); top > 900 {
				t.Errorf("the operations start %d px from the top: the description should be folded", top)
			}
			create := b.operation("createPlant")
			create("401", `"error": 40100`)

			b.click("#token button")
			b.sees("#token output", "You are alice for 60 minutes")
			create("200", `"name": "Basil"`, `"tag": "herb"`)
			create("400", `"error": 40003`)
			b.click("#operations-plants-createPlant .opblock-summary-control") // closes it
			list := b.operation("listPlants")
			list("200", "[", `"name": "Basil"`) // the picture in README

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

// The page shows why the issuer rejects a name, and accepts another one.
func TestPageWithInvalidName(t *testing.T) {
	b := openTab(t, start(t), widths[0])
	eval[any](b, "document.querySelector('#token input[type=text]').value = 'é'.repeat(128)")
	b.click("#token button")
	b.sees("#token output", "No token: client_id must be 1 to 255 bytes of UTF-8")
	b.fill("#token input[type=text]", "bob")
	b.click("#token button")
	b.sees("#token output", "You are bob")
	if faults := b.takeFaults(); len(faults) != 1 {
		t.Errorf("the browser reported %q, want only the failed token request", faults)
	}
}

// With another issuer the user pastes a token.
func TestPageWithOtherIssuer(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	for _, width := range widths {
		at(t, width, func(t *testing.T) {
			b := openTab(t, start(t,
				config.TokenIssuer+"="+authtest.IssuerURL,
				config.TokenAudience+"="+authtest.Audience,
				config.TokenJWKS+"="+string(issuer.JWKS())), width)
			b.sees("#token", "press Authorize and paste it")
			b.click(".swagger-ui .btn.authorize")
			b.fill(".auth-container input", issuer.Token("carol"))
			b.sees(".modal-ux", "bearer")
			b.click(".auth-container .authorize")
			b.click(".auth-container .btn-done")
			b.operation("listPlants")("200", "[]")
		})
	}
}
