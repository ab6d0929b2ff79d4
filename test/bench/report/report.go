// Package report writes the results of benchmarks as Markdown, for the pages in
// docs.
package report

import (
	"fmt"
	"io"
	"strings"
)

// A Table compares columns, such as programs, with the first one.
type Table struct {
	Title   string
	Columns []string
	Rows    []Row
}

// A Row is one measurement, with a value for each column of the table.
type Row struct {
	Name   string
	Format string // of a value, as in package fmt, such as "%.2f ms"
	Values []float64
}

// Write writes the table with the values of the first column, and for the other
// columns the ratios to it and the values in brackets. A bar chart of the last
// column's ratios follows. Mermaid draws it, which GitHub has built in.
func (t Table) Write(w io.Writer) {
	fmt.Fprintf(w, "### %s\n\n| | %s |\n|---|%s\n", t.Title, strings.Join(t.Columns, " | "), strings.Repeat("--:|", len(t.Columns)))
	var names, ratios, ones []string
	top := 1.0
	for _, row := range t.Rows {
		fmt.Fprintf(w, "| %s | "+row.Format+" |", row.Name, row.Values[0])
		var ratio float64
		for _, v := range row.Values[1:] {
			ratio = v / row.Values[0]
			fmt.Fprintf(w, " **%.2f** ("+row.Format+") |", ratio, v)
		}
		fmt.Fprintln(w)
		top = max(top, ratio)
		names, ratios, ones = append(names, fmt.Sprintf("%q", row.Name)), append(ratios, fmt.Sprintf("%.2f", ratio)), append(ones, "1")
	}
	fmt.Fprintf(w, "\n```mermaid\n"+
		`%%%%{init: {"xyChart": {"height": %d}, "themeVariables": {"xyChart": {"plotColorPalette": "#2e8b57, #888888"}}}}%%%%`+"\n"+
		"xychart-beta horizontal\n    title %q\n    x-axis [%s]\n    y-axis \"ratio\" 0 --> %.2f\n    bar [%s]\n    line [%s]\n```\n\n",
		100+40*len(t.Rows), t.Columns[len(t.Columns)-1]+" : "+t.Columns[0],
		strings.Join(names, ", "), top, strings.Join(ratios, ", "), strings.Join(ones, ", "))
}
