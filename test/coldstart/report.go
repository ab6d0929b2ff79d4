package main

import (
	"cmp"
	"slices"
	"time"

	"example.com/plantstore/test/bench/report"
)

const inMS, inMB = "%.2f ms", "%.1f MB"

// metrics are the rows of a table.
var metrics = []struct {
	name, format string
	of           func(sample) float64
}{
	{"init", inMS, func(s sample) float64 { return ms(s.init) }},
	{"first call", inMS, func(s sample) float64 { return ms(s.first) }},
	{"cold start: init and first call", inMS, func(s sample) float64 { return ms(s.init + s.first) }},
	{"CPU of the cold start", inMS, func(s sample) float64 { return ms(s.coldCPU) }},
	{"warm call", inMS, func(s sample) float64 { return ms(s.warm) }},
	{"CPU per warm call", inMS, func(s sample) float64 { return ms(s.warmCPU) }},
	{"peak memory", inMB, func(s sample) float64 { return float64(s.memory) / 1e6 }},
}

// newTable returns the table of the medians of each candidate's samples. It has
// no row for what was not measured.
func newTable(title string, candidates []candidate, samples [][]sample) report.Table {
	t := report.Table{Title: title}
	for _, c := range candidates {
		t.Columns = append(t.Columns, c.name)
	}
	for _, m := range metrics {
		row := report.Row{Name: m.name, Format: m.format}
		for _, all := range samples {
			var values []float64
			for _, s := range all {
				values = append(values, m.of(s))
			}
			row.Values = append(row.Values, median(values))
		}
		if slices.Max(row.Values) > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// median returns the median of values, which must not be empty. It is the upper
// one of two.
func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
