// Package browser tests the page of the plain server in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

var screenshots = flag.String("screenshots", "", "write pictures of the docs page to this `directory`")

// A tab is the docs page in a real browser.
type tab struct {
	t     *testing.T
	ctx   context.Context
	base  string
	width int64
	shots int

	mu     sync.Mutex
	faults []string // errors that the browser reported
}

// openTab opens the page at base in a browser of its own. When the test ends, it
// fails if the browser reported an error, such as a violation of the
// Content-Security-Policy, or if the page sent a request to another server.
//
// Without a browser the test is skipped: see [tools.Missing].
func openTab(t *testing.T, base string, width int64) *tab {
	t.Helper()
	b := &tab{t: t, base: base, width: width}
	b.ctx = openBrowser(t, b.note)
	t.Cleanup(func() {
		for _, fault := range b.takeFaults() {
			t.Errorf("the browser at %d px: %s", width, fault)
		}
	})
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(base), chromedp.WaitVisible(chromedp.CSS("#token")))
	return b
}

// openBrowser starts a browser that calls listen for each event, and runs until
// the test ends.
func openBrowser(t *testing.T, listen func(any)) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // root can't use it, and the page is our own
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(tools.Patience), // for the start
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true))
	ctx, cancel := context.WithTimeout(t.Context(), tools.Patience*5/4) // after tools.Await has given up
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	err := chromedp.Listen(ctx, listen)
	if errors.Is(err, exec.ErrNotFound) {
		tools.Missing(t, fmt.Errorf("no browser for the tests of pages: install Chromium or Chrome: %w", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// note records the errors of the page.
func (b *tab) note(event any) {
	var fault string
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.base+"/") && !strings.HasPrefix(url, "data:") {
			fault = "request to another server: " + url
		}
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console.%s of %d values", e.Type, len(e.Args))
		for _, arg := range e.Args {
			fault += fmt.Sprintf(" %s%s", arg.Value, arg.Description)
		}
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			fault += " " + thrown.Description
		}
	case *log.EventEntryAdded:
		// The browser reports each failed request. Requests to the service
		// may fail on purpose.
		if e.Entry.Source != log.EntrySourceNetwork || !strings.HasPrefix(e.Entry.URL, b.base+"/plants") {
			fault = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
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

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
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
	eval[any](b, fmt.Sprintf("document.activeElement.select(); document.execCommand('insertText', false, %s)", quoted))
}

// sees waits until the text of an element contains all of want. It also checks
// that the page is not wider than the window.
func (b *tab) sees(selector string, want ...string) {
	b.t.Helper()
	tools.Await(b.t, func() error {
		text := eval[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
		if slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(text, s) }) {
			return fmt.Errorf("%s shows %q, want %q", selector, text, want)
		}
		return nil
	})
	if width := eval[int64](b, "document.documentElement.scrollWidth"); width > b.width {
		b.t.Errorf("at %d px, the page is %d px wide when %s shows %q", b.width, width, selector, want)
	}
	b.shoot()
}

// shoot writes a picture of the page if the flag says so.
func (b *tab) shoot() {
	if *screenshots == "" {
		return
	}
	b.shots++
	full, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		name := fmt.Sprintf("%s-%02d.png", strings.ReplaceAll(b.t.Name(), "/", "-"), b.shots)
		err = os.WriteFile(filepath.Join(*screenshots, name), full, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}
