package docs

import (
	"flag"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
)

// make session sets this flag.
var picture = flag.String("picture", "", "write the picture of the session to this `file`, as SVG")

// drawSession draws a session as a terminal of 90 columns shows it. At its width
// its letters are as large as those of README.
func drawSession(t *testing.T, session string) {
	const columns, charWidth, lineHeight = 90, 8.2, 19
	var text strings.Builder
	y := 10
	for line := range strings.Lines(session) {
		class := "output"
		if strings.HasPrefix(line, "$ ") {
			class = "command"
		}
		for chars := []rune(strings.TrimSuffix(line, "\n")); len(chars) > 0; {
			part := chars[:min(len(chars), columns)]
			chars = chars[len(part):]
			y += lineHeight
			fmt.Fprintf(&text, "<text x=\"14\" y=\"%d\" class=%q textLength=\"%.0f\">%s</text>\n", y, class, charWidth*float64(len(part)), html.EscapeString(string(part)))
		}
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.6">
<style>text { white-space: pre } rect { fill: #1d1f21 } .output { fill: #c5c8c6 } .command { fill: #b5d66b }</style>
<rect width="100%%" height="100%%" rx="6"/>
%s</svg>
`, columns*charWidth+28, y+14, &text)
	if err := os.WriteFile(*picture, []byte(svg), 0o644); err != nil {
		t.Fatal(err)
	}
}
