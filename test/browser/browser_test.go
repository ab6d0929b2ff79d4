// Package browser tests the page of the plain server in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// A tab is a real browser with one page.
type tab struct {
	t     *testing.T
	ctx   context.Context
	base  string // of the program
	width int

	elsewhere bool // the test visits other servers, and errors don't count

	mu     sync.Mutex
	faults []string // errors that the browser reported
}

// openTab opens the program's page in a browser of its own. When the test ends, it
// fails if the browser reported an error, such as a violation of the
// Content-Security-Policy, or if the page sent a request to another server.
//
// Without a browser the test is skipped: see [tools.Missing].
func openTab(t *testing.T, base string, width int) *tab {
	t.Helper()
	b := &tab{t: t, base: base, width: width}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // root can't use it, and the page is our own
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(tools.Patience)) // for the start
	ctx, cancel := context.WithTimeout(t.Context(), tools.Patience*5/4) // after tools.Await has given up
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	err := chromedp.Listen(b.ctx, b.note)
	if errors.Is(err, exec.ErrNotFound) {
		tools.Missing(t, fmt.Errorf("no browser for the tests of pages: install Chromium or Chrome: %w", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range b.takeFaults() {
			if !b.elsewhere {
				t.Errorf("the browser at %d px: %s", width, fault)
			}
		}
	})
	b.do(chromedp.EmulateViewport(int64(width), 900), chromedp.Navigate(base), chromedp.WaitVisible(chromedp.CSS("#token")))
	return b
}

// note records the errors of the page. Requests to the service may fail on
// purpose.
func (b *tab) note(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.HasPrefix(e.Request.URL, b.base+"/") || strings.HasPrefix(e.Request.URL, "data:") {
			return
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceNetwork && strings.HasPrefix(e.Entry.URL, b.base+"/plants") {
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

// takeFaults returns the errors so far, and removes them.
func (b *tab) takeFaults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("the browser at %d px: %v", b.width, err)
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
	tools.Await(b.t, func() error {
		text := eval[string](b, "document.querySelector(%q)?.innerText ?? ''", selector)
		if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(text, s) }) {
			return fmt.Errorf("%s shows %q, want %q", selector, text, want)
		}
		return nil
	})
	if width := eval[int](b, "document.documentElement.scrollWidth"); width > b.width {
		b.t.Errorf("at %d px, the page is %d px wide when %s shows %q", b.width, width, selector, want)
	}
}

// holds checks that a JavaScript expression is true.
func (b *tab) holds(expression string) {
	b.t.Helper()
	if !eval[bool](b, "%s", expression) {
		b.t.Errorf("at %d px, false: %s", b.width, expression)
	}
}
