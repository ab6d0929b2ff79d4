// Package plot draws the plots of the documents, as SVG: docs/benchmarks.md from what
// make bench measured, and docs/costs.md from the tables of that page. Its test finds
// plots that are older than their numbers, and draws them again for make plots.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// width is that of every plot. A phone shows it at four fifths, where its letters can
// still be read.
const width = 440

// A canvas collects the elements of a plot from top to bottom. Their classes are those
// of styles; s0, s1 and so on are the colors of series.
type canvas struct {
	elements strings.Builder
	y        float64 // the lower end of what is drawn
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.elements, format+"\n", args...) }

// text writes one line, of which x is the start, the middle or the end.
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64) {
	c.add(`<path d="M%.1f %.1fL%.1f %.1f" class="grid"/>`, x1, y1, x2, y2)
}

// heading writes the title of a plot or of a part of it.
func (c *canvas) heading(text string) {
	c.y += 28
	c.text(16, c.y, "start", "title", text)
	c.y += 10
}

// notes writes lines of small letters.
func (c *canvas) notes(lines ...string) {
	c.y += 8
	for _, line := range lines {
		c.y += 18
		c.text(16, c.y, "start", "note", line)
	}
}

// legend names the colors of the series, two in a row.
func (c *canvas) legend(names []string) {
	for i, name := range names {
		x := 16 + float64(i%2)*210
		if i%2 == 0 {
			c.y += 22
		}
		c.add(`<rect x="%.1f" y="%.1f" width="12" height="12" class="s%d"/>`, x, c.y-11, i)
		c.text(x+18, c.y, "start", "", name)
	}
}

// A bar consists of one or more parts, each in the color of a series.
type bar struct {
	label string
	parts []part
}

type part struct {
	value  float64
	series int
}

// bars draws horizontal bars with their sums, above an axis that begins at zero.
func (c *canvas) bars(axis string, format func(float64) string, bars []bar) {
	const left, right, pitch = 182, width - 74, 25
	sums := make([]float64, len(bars))
	largest := 0.0
	for i, b := range bars {
		for _, p := range b.parts {
			sums[i] += p.value
		}
		largest = max(largest, sums[i])
	}
	step := tickStep(largest)
	scale := (right - left) / (step * math.Ceil(largest/step))
	bottom := c.y + pitch*float64(len(bars)) + 4
	for tick := 0.0; left+tick*scale < right+1; tick += step {
		c.line(left+tick*scale, c.y, left+tick*scale, bottom)
		c.text(left+tick*scale, bottom+15, "middle", "note", fmt.Sprintf("%g", math.Round(tick*1e6)/1e6))
	}
	c.text((left+right)/2, bottom+32, "middle", "note", axis)
	for i, b := range bars {
		y := c.y + pitch*float64(i) + 5
		c.text(left-8, y+14, "end", "", b.label)
		x := left + 0.0
		for _, p := range b.parts {
			c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="18" class="s%d"/>`, x, y, p.value*scale, p.series)
			x += p.value * scale
		}
		c.text(x+6, y+14, "start", "value", format(sums[i]))
	}
	c.y = bottom + 36
}

// tickStep returns a distance of 1, 2 or 5 times a power of ten, for 2 to 5 ticks up to
// the largest value.
func tickStep(largest float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(largest)))
	for _, step := range []float64{0.2, 0.5, 1} {
		if largest <= 4*step*power {
			return step * power
		}
	}
	return 2 * power
}

// A series is a line through points.
type series struct{ x, y []float64 }

// logLog draws lines on two logarithmic axes, from one power of ten to another.
func (c *canvas) logLog(xAxis, yAxis string, xs, ys [2]int, all []series) {
	const left, right, decade = 92, width - 34, 48
	top := c.y + 26
	bottom := top + decade*float64(ys[1]-ys[0])
	atX := func(exponent float64) float64 {
		return left + (right-left)*(exponent-float64(xs[0]))/float64(xs[1]-xs[0])
	}
	atY := func(exponent float64) float64 { return bottom - decade*(exponent-float64(ys[0])) }
	c.text(16, c.y+14, "start", "note", yAxis)
	for e := ys[0]; e <= ys[1]; e++ {
		c.line(left, atY(float64(e)), right, atY(float64(e)))
		c.text(left-8, atY(float64(e))+5, "end", "note", "$"+thousands(e))
	}
	for e := xs[0]; e <= xs[1]; e++ {
		c.line(atX(float64(e)), top, atX(float64(e)), bottom)
		c.text(atX(float64(e)), bottom+17, "middle", "note", thousands(e))
	}
	c.text((left+right)/2, bottom+36, "middle", "note", xAxis)
	for i, s := range all {
		path := "M"
		for j := range s.x {
			x, y := atX(math.Log10(s.x[j])), atY(math.Log10(s.y[j]))
			path += fmt.Sprintf("%.1f %.1fL", x, y)
			c.add(`<circle cx="%.1f" cy="%.1f" r="3" class="s%d"/>`, x, y, i)
		}
		c.add(`<path d="%s" class="line l%d"/>`, strings.TrimSuffix(path, "L"), i)
	}
	c.y = bottom + 40
}

// thousands returns ten to the power of exponent, which isn't negative, with commas.
func thousands(exponent int) string {
	first, rest := exponent%3, exponent/3
	return "1" + strings.Repeat("0", first) + strings.Repeat(",000", rest)
}

// gray is the last color of series, for what others are compared with.
const gray = 4

// A theme has the colors of a plot. People who can't tell red from green can tell those
// of series apart.
type theme struct {
	suffix                       string // of the file's name
	background, text, note, grid string
	series                       [gray + 1]string
}

var themes = []theme{
	{"", "#ffffff", "#1f2328", "#59636e", "#d1d9e0", [...]string{"#0072b2", "#d55e00", "#009e73", "#b8609a", "#6e7781"}},
	{"-dark", "#0d1117", "#f0f6fc", "#9da7b3", "#3d444d", [...]string{"#56b4e9", "#e69f00", "#2cc99a", "#e0a3c8", "#8b949e"}},
}

// save adds the plot to files, in each theme.
func (c *canvas) save(files map[string]string, name, title string) {
	for _, t := range themes {
		style := fmt.Sprintf("text{fill:%s}.title{font-weight:600}.note{font-size:13px;fill:%s}.value{paint-order:stroke;stroke:%s;stroke-width:4}.grid{stroke:%s}.line{fill:none;stroke-width:2}",
			t.text, t.note, t.background, t.grid)
		for i, color := range t.series {
			style += fmt.Sprintf(".s%d{fill:%s}.l%d{stroke:%s}", i, color, i, color)
		}
		height := c.y + 14
		files[name+t.suffix+".svg"] = fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14">
<title>%s</title>
<style>%s</style>
<rect width="100%%" height="100%%" fill="%s"/>
%s</svg>
`, width, height, width, height, html.EscapeString(title), style, t.background, &c.elements)
	}
}
