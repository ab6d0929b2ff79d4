package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/openapi"
)

// start starts the program with the settings in env.
func start(t *testing.T, env ...string) *harness.Server {
	return harness.StartServer(t, harness.Environ(env...), t.TempDir())
}

// createPlants creates three of alice's plants, with the ids 0, 1 and 2.
func createPlants(t *testing.T, server *harness.Server) {
	t.Helper()
	for id := range 3 {
		send(t, server, "POST", "/plants", openapi.With(example, "id", fmt.Sprint(id)))
	}
}

// send sends a request of alice, which succeeds.
func send(t *testing.T, server *harness.Server, method, path, body string) {
	t.Helper()
	req, err := http.NewRequest(method, server.Base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+server.Token(t, url.Values{"client_id": {"alice"}}))
	if resp, answer := harness.Send(t, req); resp.StatusCode >= 300 {
		t.Fatal(method, path, resp.Status, answer)
	}
}

// The operation that lists plants, in the page.
const listPlants = "#operations-plants-listPlants"

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
			list("200", "7\tBasil\t"+"herb", large+"\t"+name) // in two parts, so that make rename finds herb
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
