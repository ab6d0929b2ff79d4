package browser

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/test/harness"
)

// A delete from the list that fails says why, and can be repeated. The server starts
// anew for each cause.
func TestFailedDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := harness.StartServer(t, harness.Environ(), dir)
	createPlants(t, server)
	b := openTab(t, server.Base, windows[0])
	b.sees("#token", "for alice")
	b.operation("listPlants")("200", "2\tBasil")
	b.do(chromedp.EmulateViewport(390, 300)) // in which the reason is not near the button
	address := strings.TrimPrefix(server.Base, "http://")
	restart := func(env ...string) {
		server.Kill()
		server = harness.StartServer(t, harness.Environ(env...), dir, "-addr", address)
	}
	fails := func(id, want string) {
		t.Helper()
		button := "[aria-label='Delete " + id + "']"
		eval[any](b, "document.querySelector(%q).scrollIntoView({block: 'start'})", button)
		b.click(button)
		b.sees(listPlants+" .live-response", id+"\tBasil", want)
		b.focused("Delete " + id)
		b.inView(listPlants + " .live-response p:nth-of-type(2)")
		b.accessible(want)
	}

	send(t, server, "DELETE", "/plants/0", "")
	fails("0", "0 was not deleted: you have no plant with this id")
	restart(
		config.TokenIssuer+"="+issuer.Name,
		config.TokenAudience+"="+issuer.Audience,
		config.TokenJWKSURL+"=http://127.0.0.1:1") // where nothing listens
	fails("1", "1 was not deleted: access tokens can't be checked at the moment; try again later")

	// The server's key, and with it alice's token, is no longer valid.
	if err := os.Remove(filepath.Join(dir, issuer.KeyFile)); err != nil {
		t.Fatal(err)
	}
	restart()
	fails("1", "1 was not deleted: the access token is not valid")
	b.clickButton("Get a new token")
	b.focused("Delete 2") // in the new list
	b.holds(`!document.querySelector("[aria-label='Delete 0'], [aria-label='Delete 1']")`)

	server.Kill()
	fails("2", "The server doesn't respond. Is it running?")
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the server is away", http.StatusBadGateway)
	}))
	proxy.Listener.Close()
	proxy.Listener = listener
	proxy.Start()
	fails("2", "2 was not deleted: 502")
	proxy.Close()

	server = harness.StartServer(t, harness.Environ(), dir, "-addr", address)
	b.click("[aria-label='Delete 2']")
	b.sees(listPlants+" .live-response", "200", "[]")
	b.focused("Execute")
}
