package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
)

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
	b.clickButton("Get a new token")
	b.sees("#token", "No token: client_id must be a name")
	b.fill("#token [name=client_id]", "bob")
	b.click("#token button")
	b.sees("#token", "Requests carry a token for bob")
	b.sees(listPlants+" .live-response", "401") // a token that came later sends nothing again
	b.do(chromedp.Focus(chromedp.CSS(listPlants + " .live-response > button")))
	b.press()
	b.sees(listPlants+" .live-response", "200", "[]")
	b.focused("Execute")
	if n := b.requests("GET /plants?include=id"); n != 2 {
		t.Errorf("the page has listed plants %d times, want 2", n)
	}
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
	dialog := func(button string) {
		t.Helper()
		b.clickButton(button)
		b.do(chromedp.WaitVisible(chromedp.CSS(".auth-container input:focus")))
	}
	paste := func(token string) {
		t.Helper()
		b.fill(".auth-container input", token)
		b.press()
		b.sees("#token", "Requests carry the token that you pasted")
	}
	list("401", `"error": 40100`)
	b.do(chromedp.Focus(chromedp.CSS(listPlants + " .live-response > button")))
	dialog("Paste a token")
	b.accessible("dialog")
	b.click(".auth-container .btn-done")
	b.focused("Paste a token")
	b.do(chromedp.Focus(chromedp.CSS(".swagger-ui .btn.authorize")))
	dialog("Authorize")
	expired := authtest.Claims("carol")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()
	paste(issuer.Sign(expired))
	b.focused("Authorize")
	b.sees(listPlants+" .live-response", "40100") // a token that came later sends nothing again
	list("401", `"error": 40102`)
	b.click(".swagger-ui .btn.authorize")
	b.clickButton("Logout")
	b.sees("#token", "press Authorize and paste it")
	b.click(".auth-container .btn-done")
	list("401", `"error": 40100`)
	dialog("Paste a token")
	paste(issuer.Token("carol"))
	b.sees(listPlants+" .live-response", "200", "[]")
	b.focused("Execute")
	if n := b.requests("GET /plants?include=id"); n != 4 {
		t.Errorf("the page has listed plants %d times, want 4", n)
	}
	b.holds("!document.querySelector('.auth-container')")
}
