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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/tools"
)

var screenshots = flag.String("screenshots", "", "`folder` for pictures of the docs page")

// patience is for what takes a moment, on a machine that is busy with other tests.
const patience = 20 * time.Second

// A tab is a page of the program in a real browser.
type tab struct {
	t     *testing.T
	ctx   context.Context
	base  string
	width int64
	shots int

	mu     sync.Mutex
	faults []string // what no page should do, in the words of the browser
}

// openTab opens the page at base in a browser of its own, which ends with the
// test. The test then fails if the browser had anything to complain of, a
// violation of the Content-Security-Policy included, or if the page asked
// another server for anything.
//
// If there is no browser the test is skipped, loudly; with CI=true it fails.
func openTab(t *testing.T, base string, width int64) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, // which root can't have, and the page is our own
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base, width: width}
	err := chromedp.Listen(ctx, b.note)
	if errors.Is(err, exec.ErrNotFound) {
		tools.Missing(t, fmt.Errorf("no browser to test the docs page in: install Chromium or Chrome (%w)", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range b.takeFaults() {
			t.Errorf("the browser at %d px: %s", width, fault)
		}
	})
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(base), chromedp.WaitVisible(chromedp.CSS("#token")))
	return b
}

// note keeps what is wrong with the page.
func (b *tab) note(event any) {
	var fault string
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.base+"/") && !strings.HasPrefix(url, "data:") {
			fault = "it asks another server: " + url
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
		// The browser remarks on each failed request. Those of the service's
		// operations fail when the test wants it.
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

// takeFaults returns the faults so far, and forgets them.
func (b *tab) takeFaults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
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

// fill types a text over what stands in a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)))
	eval[any](b, "document.activeElement.select()")
	b.do(chromedp.KeyEvent(text))
}

// sees waits until the text of an element has all of want. It also holds the
// page to the width of the window.
func (b *tab) sees(selector string, want ...string) {
	b.t.Helper()
	text := fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '')", selector)
	wanted, _ := json.Marshal(want)
	predicate := fmt.Sprintf("%s.every(want => %s.includes(want))", wanted, text)
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](predicate, chromedp.WithPollingTimeout(patience))); err != nil {
		b.t.Fatalf("%s shows %q, want %q: %v", selector, eval[string](b, text), want, err)
	}
	if width := eval[int64](b, "document.documentElement.scrollWidth"); width > b.width {
		b.t.Errorf("at %d px, the page is %d wide once %s shows %q", b.width, width, selector, want)
	}
	b.shoot()
}

// shoot takes a picture of the page, if pictures are wanted.
func (b *tab) shoot() {
	if *screenshots == "" {
		return
	}
	b.shots++
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		name := fmt.Sprintf("%s-%02d.png", strings.ReplaceAll(b.t.Name(), "/", "-"), b.shots)
		err = os.WriteFile(filepath.Join(*screenshots, name), picture, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
