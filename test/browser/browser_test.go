// Package browser tests the pages of the plain server in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A tab is a real browser with one page.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // of the program

	elsewhere bool // the test visits other servers, and errors don't count

	mu     sync.Mutex
	faults []string // errors that the browser reported
	sent   []string // method and path of each request to the program
}

// The windows of the tests: those of a phone and a desktop. The colors don't depend on
// the size, so each has one of the color schemes.
var windows = []string{"390x844 dark", "1280x800 light"}

// openTab opens the program's page in a browser of its own, in one of the windows.
// When the test ends, it fails if the browser reported an error, such as a
// violation of the Content-Security-Policy, or if the page sent a request to
// another server.
//
// Without a browser the test is skipped: see [harness.Missing].
func openTab(t *testing.T, base, window string) *tab {
	t.Helper()
	var width, height int64
	var scheme string
	if _, err := fmt.Sscanf(window, "%dx%d %s", &width, &height, &scheme); err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, base: base}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // root can't use it, and the page is our own
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(harness.Patience)) // for the start
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience*5/4) // after harness.Await has given up
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	err := chromedp.Listen(b.ctx, b.note)
	if errors.Is(err, exec.ErrNotFound) {
		harness.Missing(t, fmt.Errorf("no browser for the tests of pages: install Chromium or Chrome: %w", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			if !b.elsewhere {
				t.Errorf("the browser: %s", fault)
			}
		}
	})
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // axe must not see colors in transition
	}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(base), chromedp.WaitVisible(chromedp.CSS("#token")))
	return b
}

// note records the requests and the errors of the page. Requests to the service and for tokens may
// fail on purpose.
func (b *tab) note(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if path, ok := strings.CutPrefix(e.Request.URL, b.base); ok {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.sent = append(b.sent, e.Request.Method+" "+path)
			return
		}
		if strings.HasPrefix(e.Request.URL, "data:") {
			return
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceNetwork && (strings.HasPrefix(e.Entry.URL, b.base+"/plants") || e.Entry.URL == b.base+"/oauth2/token") {
			return
		}
	case *runtime.EventConsoleAPICalled, *runtime.EventExceptionThrown:
	default:
		return
	}
	text, err := json.Marshal(event)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf("%T %s %v", event, text, err))
}

// requests returns how many requests with this method and path the page has sent.
func (b *tab) requests(request string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, sent := range b.sent {
		if sent == request {
			n++
		}
	}
	return n
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("the browser: %v", err)
	}
}

// eval returns the value of a JavaScript expression, or of its promise.
func eval[T any](b *tab, format string, args ...any) T {
	b.t.Helper()
	script := fmt.Sprintf(format, args...)
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
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

// sees waits until the text of an element contains all of want. It also checks
// that the page is not wider than the window.
func (b *tab) sees(selector string, want ...string) {
	b.t.Helper()
	harness.Await(b.t, func() error {
		text := eval[string](b, "document.querySelector(%q)?.innerText ?? ''", selector)
		if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(text, s) }) {
			return fmt.Errorf("%s shows %q, want %q", selector, text, want)
		}
		return nil
	})
	b.holds("document.documentElement.scrollWidth <= innerWidth")
}

// hold presses Enter for half a second, wherever the focus is.
func (b *tab) hold() {
	b.t.Helper()
	key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Text: "\r", WindowsVirtualKeyCode: '\r'}
	for range 20 {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, key); err != nil {
			b.t.Fatal(err)
		}
		key.AutoRepeat = new(true)
		time.Sleep(25 * time.Millisecond)
	}
	key.Type = input.DispatchKeyEventTypeKeyUp
	if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, key); err != nil {
		b.t.Fatal(err)
	}
}

// holds checks that a JavaScript expression is true.
func (b *tab) holds(expression string) {
	b.t.Helper()
	if !eval[bool](b, "%s", expression) {
		b.t.Errorf("false: %s", expression)
	}
}

// accessible checks that axe finds nothing in the page as it is now. That includes a
// contrast of at least 4.5 to 1 in the light scheme, and that no level of headings is
// left out.
func (b *tab) accessible(state string) {
	b.t.Helper()
	if !eval[bool](b, "'axe' in window") {
		eval[any](b, "%s; null", readAxe(b.t))
	}
	for _, fault := range eval[[]string](b, `axe.run().then(result => result.violations
		.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' ')))`) {
		b.t.Errorf("axe, %s: %s", state, fault)
	}
}

// readAxe returns the script of axe-core.
func readAxe(t *testing.T) string {
	t.Helper()
	const pinned = "axe-core@4.14.1"
	harness.Need(t, "npm")
	dir, err := harness.Dir("axe", []byte(pinned), func(dir string) error {
		_, err := harness.Run("npm", "install", "--silent", "--no-audit", "--no-fund", "--cache", t.TempDir(), "--prefix", dir, pinned)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}
