package main

import (
	"math"
	"slices"
	"time"

	"example.com/plantstore/test/bench/report"
)

const inMS, inMB = "%.2f ms", "%.1f MB"

// metrics are the rows of a table, each with its value for all samples of a
// candidate. The value is not finite if they have no warm calls and it needs them.
var metrics = []struct {
	name, format string
	of           func([]sample) float64
}{
	{"init", inMS, median(func(s sample) float64 { return ms(s.init) })},
	{"first call", inMS, median(func(s sample) float64 { return ms(s.first) })},
	{"cold start: init and first call", inMS, median(func(s sample) float64 { return ms(s.init + s.first) })},
	{"CPU of the cold start", inMS, median(func(s sample) float64 { return ms(s.initCPU + s.firstCPU) })},
	{"warm call, p50", inMS, func(all []sample) float64 { return quantile(warmCalls(all), 0.50) }},
	{"warm call, p99", inMS, func(all []sample) float64 { return quantile(warmCalls(all), 0.99) }},
	{"CPU per warm call", inMS, median(func(s sample) float64 { return ms(s.warmCPU) / float64(len(s.warm)) })},
	{"peak memory", inMB, median(func(s sample) float64 { return float64(s.memory) / 1e6 })},
}

// newTable returns the table of the samples of each candidate.
func newTable(title string, candidates []candidate, samples [][]sample) report.Table {
	t := report.Table{Title: title}
	for _, c := range candidates {
		t.Columns = append(t.Columns, c.name)
	}
	for _, m := range metrics {
		row := report.Row{Name: m.name, Format: m.format}
		for _, all := range samples {
			row.Values = append(row.Values, m.of(all))
		}
		if v := row.Values[0]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// median returns a function that returns the median of a value of the samples.
func median(of func(sample) float64) func([]sample) float64 {
	return func(all []sample) float64 {
		var values []float64
		for _, s := range all {
			values = append(values, of(s))
		}
		return quantile(values, 0.5)
	}
}

func warmCalls(all []sample) (values []float64) {
	for _, s := range all {
		for _, took := range s.warm {
			values = append(values, ms(took))
		}
	}
	return values
}

// quantile returns the q-quantile of values, for q from 0 to 1, or NaN if there
// are no values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
