package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/openapi"
)

// An address opens an operation, and what was open is open again after a reload.
func TestDeepLinks(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t).Base, windows[1])
	eval[any](b, "location.hash = '#/plants/listPlants'")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(listPlants+" .opblock-description")))
	b.operation("deletePlant")
	b.holds("location.hash === '#/plants/deletePlant'")
	b.operation("createPlant")
	b.click("#operations-plants-createPlant .opblock-summary-control") // closes it
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(listPlants+".is-open")),
		chromedp.WaitVisible(chromedp.CSS("#operations-plants-deletePlant.is-open")))
	b.holds("!document.querySelector('#operations-plants-createPlant.is-open')")
}

// A user works with the keyboard alone: the focus stays where Enter is useful next.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	server := start(t)
	createPlants(t, server)
	b := openTab(t, server.Base, windows[1])
	b.sees("#token", "for alice")
	b.operation("createPlant")
	b.fill("#operations-plants-createPlant textarea", openapi.With(example, "id", "3"))
	b.do(chromedp.Focus(chromedp.CSS("#operations-plants-createPlant .execute")))
	b.hold()
	b.sees("#operations-plants-createPlant .live-response", "200")
	b.focused("Execute")
	b.do(chromedp.Focus(chromedp.CSS("#operations-plants-createPlant .btn-clear")))
	b.press()
	b.focused("Execute")
	b.holds("!document.querySelector('#operations-plants-createPlant .live-response')")

	b.operation("listPlants")
	b.do(chromedp.Focus(chromedp.CSS(listPlants + " .execute")))
	for range 2 {
		b.press()
		b.sees(listPlants+" .live-response", "0\tBasil", "3\tBasil")
		b.focused("Execute")
	}
	b.do(chromedp.Focus(chromedp.CSS("[aria-label='Delete 1']")))
	b.hold()
	b.focused("Delete 2")
	b.holds(`!document.querySelector("[aria-label='Delete 1']")`)
	b.do(chromedp.Focus(chromedp.CSS("[aria-label='Delete 3']")))
	b.press()
	b.focused("Delete 2") // the last one
	b.holds(`!document.querySelector("[aria-label='Delete 3']")`)
	send(t, server, "POST", "/plants", openapi.With(example, "id", "3"))
	b.fill(listPlants+" input[placeholder=limit]", "1")
	b.do(chromedp.Focus(chromedp.CSS(listPlants + " .execute")))
	b.press()
	b.sees(listPlants+" .live-response", "0\tBasil", "Next page")
	turn := func(button, want, focused string) {
		t.Helper()
		eval[any](b, "[...document.querySelectorAll('button')].find(button => button.innerText === %q).focus()", button)
		b.press()
		b.sees(listPlants+" .live-response", want)
		b.focused(focused)
	}
	turn("Next page", "2\tBasil", "Next page")
	turn("Next page", "3\tBasil", "Execute") // the last page
	turn("First page", "0\tBasil", "Execute")
	b.do(chromedp.DoubleClick(chromedp.CSS("[aria-label='Delete 0']"))) // only its second click
	turn("Next page", "2\tBasil", "Next page")
	for request, want := range map[string]int{"POST /plants": 1, "DELETE /plants/0": 0, "DELETE /plants/1": 1, "DELETE /plants/2": 0, "DELETE /plants/3": 1} {
		if got := b.requests(request); got != want {
			t.Errorf("the page has sent %s %d times, want %d", request, got, want)
		}
	}
}
