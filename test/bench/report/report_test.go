package report

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var b strings.Builder
	Table{"Speed", []string{"old", "other", "new"}, []Row{
		{"start", "%.1f ms", []float64{10, 20, 5}},
		{"size", "%.0f MB", []float64{4, 4, 6}},
	}}.Write(&b)
	const want = "### Speed\n\n" +
		"| | old | other | new |\n|---|--:|--:|--:|\n" +
		"| start | 10.0 ms | **2.00** (20.0 ms) | **0.50** (5.0 ms) |\n" +
		"| size | 4 MB | **1.00** (4 MB) | **1.50** (6 MB) |\n" +
		"\n```mermaid\n" +
		`%%{init: {"xyChart": {"height": 180}, "themeVariables": {"xyChart": {"plotColorPalette": "#2e8b57, #888888"}}}}%%` + "\n" +
		"xychart-beta horizontal\n" +
		"    title \"new : old\"\n" +
		"    x-axis [\"start\", \"size\"]\n" +
		"    y-axis \"ratio\" 0 --> 1.50\n" +
		"    bar [0.50, 1.50]\n" +
		"    line [1, 1]\n" +
		"```\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}
