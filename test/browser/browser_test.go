// Package browser tests the page of the plain server in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The first integer that JavaScript rounds, to 9007199254740992.
const large = 9007199254740993

const (
	create = "#operations-plants-createPlant"
	list   = "#operations-plants-listPlants"
	remove = "#operations-plants-deletePlant"
)

// A user gets a token, creates and lists a plant, and deletes it with the id from the list. The
// page finds the issuer and the service also behind a proxy that adds a path prefix.
func TestSwaggerUI(t *testing.T) {
	server, err := url.Parse(plainserver.Start(t, harness.Environ(), t.TempDir()).Base)
	if err != nil {
		t.Fatal(err)
	}
	b := openTab(t)
	b.open(server.String(), "/")
	b.signIn()
	b.do(chromedp.EmulateViewport(390, 844)) // a phone
	for _, operation := range []string{create, list, remove} {
		b.openOperation(operation)
	}
	if width := eval[int](b, "document.documentElement.scrollWidth"); width > 390 {
		t.Errorf("on a phone, the open operations are %d pixels wide, of 390", width)
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	basil := plantstest.Example(large)
	name := fmt.Sprintf(`"name": %q`, basil.Name)
	b.fill(create+" textarea", plantstest.CreateJSON(basil))
	b.execute(create, "200", name)
	seen := regexp.MustCompile(`"id": (\d+)`).FindStringSubmatch(b.execute(list, "200", name))
	if seen == nil || seen[1] != fmt.Sprint(basil.ID) {
		t.Fatalf("the list shows the id %q, want %d", seen, basil.ID)
	}
	b.fill(remove+" .parameters input", seen[1])
	b.execute(remove, "204")
	b.execute(list, "200", "[]")

	proxy := httptest.NewServer(http.StripPrefix("/store", httputil.NewSingleHostReverseProxy(server)))
	defer proxy.Close()
	b.open(proxy.URL+"/store", "/docs/")
	b.signIn()
	b.openOperation(list)
	b.execute(list, "200", "[]")
}

// signIn gets a token from the issuer.
func (b *tab) signIn() {
	b.t.Helper()
	b.sees(create, "/plants")
	b.click(".auth-wrapper .authorize")
	b.sees(".auth-container", append(handlers.Scopes(), b.base+issuer.TokenPath, "clientCredentials")...)
	b.holds("document.querySelector('#client_id_clientCredentials').value === 'alice'")
	b.click(".auth-container .authorize")
	b.sees(".auth-container", "Logout")
	b.click(".auth-container .btn-done")
}

// openOperation opens an operation.
func (b *tab) openOperation(operation string) {
	b.t.Helper()
	b.click(operation + " .opblock-summary-control")
	b.sees(operation+" .execute", "Execute")
	b.sees(operation+" .opblock-description", ".") // until then, Execute finds no operation
}

// execute sends the request of an operation, and returns the response as the page shows it.
func (b *tab) execute(operation string, want ...string) string {
	b.t.Helper()
	b.click(operation + " .execute")
	return b.sees(operation+" .live-responses-table", want...)
}

// The browser's first start on a busy machine takes longer than other programs do. The test
// itself takes some twenty seconds; harness.Await reports most faults before its limit.
const startLimit, testLimit = time.Minute, 2 * time.Minute

// A tab is a real browser with one page.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	base   string   // of the service
	faults []string // errors that the browser reported
}

// openTab opens a browser. When the test ends, it fails if the browser reported an error, such
// as a violation of the Content-Security-Policy, or if a page sent a request to another server.
//
// Without a browser the test is skipped: see [harness.Missing].
func openTab(t *testing.T) *tab {
	t.Helper()
	b := &tab{t: t}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // root can't use it, and the page is our own
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(startLimit))
	ctx, cancel := context.WithTimeout(t.Context(), startLimit+testLimit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	err := chromedp.Listen(b.ctx, b.note)
	if errors.Is(err, exec.ErrNotFound) {
		harness.Missing(t, fmt.Errorf("no browser for the test of the page: install Chromium or Chrome: %w", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Errorf("the browser: %s", fault)
		}
	})
	b.do(chromedp.EmulateViewport(1280, 800))
	return b
}

// open opens a page of the service at the address base.
func (b *tab) open(base, page string) {
	b.t.Helper()
	b.mu.Lock()
	b.base = base
	b.mu.Unlock()
	b.do(chromedp.Navigate(base + page))
}

// note records errors of the page, and its requests to other servers.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.HasPrefix(e.Request.URL, b.base) || strings.HasPrefix(e.Request.URL, "data:") {
			return
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError && e.Entry.Level != log.EntryLevelWarning {
			return
		}
	case *runtime.EventConsoleAPICalled, *runtime.EventExceptionThrown:
	default:
		return
	}
	text, err := json.Marshal(event)
	b.faults = append(b.faults, fmt.Sprintf("%T %s %v", event, text, err))
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("the browser: %v", err)
	}
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, format string, args ...any) T {
	b.t.Helper()
	script := fmt.Sprintf(format, args...)
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return v
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// fill replaces the text in a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)))
	quoted, _ := json.Marshal(text)
	eval[any](b, "document.activeElement.select(); document.execCommand('insertText', false, %s)", quoted)
}

// sees waits until the text of an element contains all of want, and returns it.
func (b *tab) sees(selector string, want ...string) (text string) {
	b.t.Helper()
	harness.Await(b.t, func() error {
		text = eval[string](b, "document.querySelector(%q)?.innerText ?? ''", selector)
		if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(text, s) }) {
			return fmt.Errorf("%s shows %q, want %q", selector, text, want)
		}
		return nil
	})
	return text
}

// holds checks that a JavaScript expression is true.
func (b *tab) holds(expression string) {
	b.t.Helper()
	if !eval[bool](b, "%s", expression) {
		b.t.Errorf("false: %s", expression)
	}
}
