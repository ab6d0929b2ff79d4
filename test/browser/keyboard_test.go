package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

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
