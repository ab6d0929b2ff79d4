package browser

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/plantstore/test/openapi"
)

// make picture and make check-picture set this flag.
var picture = flag.String("picture", "", "`write` the pictures of README, or check them")

// The pictures of README show the page from the token to the response to a list, in both
// color schemes. Each carries the words that it shows. They are compared with those of
// the page, since the letters differ from machine to machine.
func TestPicture(t *testing.T) {
	if *picture == "" {
		t.Skip("make picture and make check-picture run it")
	}
	for scheme, name := range map[string]string{"light": "page.png", "dark": "page-dark.png"} {
		b := openTab(t, start(t).Base, "1280x920 "+scheme)
		b.sees("#token", "for alice")
		create := b.operation("createPlant")
		create("200")
		other := openapi.With(openapi.With(example, "id", "9223372036854775807"), "name", `"Ficus"`)
		b.fill("#operations-plants-createPlant textarea", openapi.With(other, "tag", ""))
		create("200", `"Ficus"`)
		b.click("#operations-plants-createPlant .opblock-summary-control") // closes it
		b.operation("listPlants")("200", "Ficus")
		eval[any](b, "document.activeElement.blur(); document.querySelector('.scheme-container').scrollIntoView()")

		path := "../../docs/" + name
		words, visible := b.words()
		if *picture == "write" {
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, addText(shot, strings.Join(words[:visible], "\n")), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		shot, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.Split(readText(shot), "\n")
		for i, word := range shown { // the page may have more, since other letters move the lower edge
			if i == len(words) || words[i] != word {
				t.Errorf("docs/%s shows %q where the page has %q: run make picture", name, word, words[i:min(i+3, len(words))])
				break
			}
		}
	}
}

// words returns the texts of the page below the upper edge of the window, and how many
// of them are above the lower edge.
func (b *tab) words() (words []string, visible int) {
	b.t.Helper()
	found := eval[[]struct {
		Text    string
		Visible bool
	}](b, `(() => {
		const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
		for (let node; node = walker.nextNode();) {
			const field = node.matches?.('input, select, textarea')
			if (!field && node.nodeType !== Node.TEXT_NODE) continue
			const text = (field ? node.selectedOptions?.[0].text || node.value || node.placeholder : node.data).trim()
			const range = document.createRange()
			range.selectNode(node)
			const { width, top, bottom } = range.getBoundingClientRect()
			if (text && width && bottom > 1 && (field ? node : node.parentElement).checkVisibility()) {
				found.push({ Text: text.replace(/\s+/g, ' '), Visible: top < innerHeight })
			}
		}
		return found
	})()`)
	for i, f := range found {
		words = append(words, f.Text)
		if f.Visible {
			visible = i + 1
		}
	}
	return words, visible
}

// pngStart is the length of what every PNG begins with: its signature and the chunk
// IHDR. addText adds the text behind them, in a chunk iTXt, where readText finds it.
// https://www.w3.org/TR/png-3/#11iTXt
const (
	pngStart = 8 + 25
	keyword  = "Words\x00\x01\x00\x00\x00" // compressed, no language
)

func addText(png []byte, text string) []byte {
	chunk := bytes.NewBufferString("iTXt" + keyword)
	w := zlib.NewWriter(chunk)
	w.Write([]byte(text))
	w.Close()
	added := binary.BigEndian.AppendUint32(nil, uint32(chunk.Len()-len("iTXt")))
	added = append(added, chunk.Bytes()...)
	added = binary.BigEndian.AppendUint32(added, crc32.ChecksumIEEE(chunk.Bytes()))
	return slices.Insert(png, pngStart, added...)
}

// readText returns the text, or else why there is none.
func readText(png []byte) string {
	start := pngStart + len("size"+"iTXt"+keyword)
	if len(png) < start {
		return "no text"
	}
	r, err := zlib.NewReader(bytes.NewReader(png[start:]))
	if err != nil {
		return fmt.Sprint("no text: ", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Sprint("no text: ", err)
	}
	return string(text)
}
