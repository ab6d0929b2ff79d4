package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A metric is a row of the report: what all samples of a candidate come to.
type metric struct {
	name   string
	of     func([]sample) float64
	format func(float64) string
}

// metrics returns the rows for samples, those for warm calls only if there are any.
func metrics(warm bool) []metric {
	rows := []metric{
		{"init", each(func(s sample) time.Duration { return s.init }), ms},
		{"first call", each(func(s sample) time.Duration { return s.first }), ms},
		{"cold start: init and first call", each(func(s sample) time.Duration { return s.init + s.first }), ms},
		{"the same, at best", func(all []sample) float64 {
			best := slices.MinFunc(all, func(a, b sample) int { return cmp.Compare(a.init+a.first, b.init+b.first) })
			return float64(best.init + best.first)
		}, ms},
		{"CPU of init", each(func(s sample) time.Duration { return s.initCPU }), ms},
		{"CPU of the first call", each(func(s sample) time.Duration { return s.firstCPU }), ms},
		{"CPU of the cold start", each(func(s sample) time.Duration { return s.initCPU + s.firstCPU }), ms},
	}
	if warm {
		rows = append(rows,
			metric{"warm call, p50", func(all []sample) float64 { return quantile(warmCalls(all), 0.50) }, ms},
			metric{"warm call, p99", func(all []sample) float64 { return quantile(warmCalls(all), 0.99) }, ms},
			metric{"CPU per warm call", each(func(s sample) time.Duration { return s.warmCPU / time.Duration(len(s.warm)) }), ms},
		)
	}
	return append(rows, metric{"peak memory", func(all []sample) float64 {
		var memory []int64
		for _, s := range all {
			memory = append(memory, s.memory)
		}
		return quantile(memory, 0.5)
	}, megabytes})
}

// each returns the metric that is the median of what samples have of it.
func each(of func(sample) time.Duration) func([]sample) float64 {
	return func(all []sample) float64 {
		var values []time.Duration
		for _, s := range all {
			values = append(values, of(s))
		}
		return quantile(values, 0.5)
	}
}

func warmCalls(all []sample) (calls []time.Duration) {
	for _, s := range all {
		calls = append(calls, s.warm...)
	}
	return calls
}

// quantile returns the value below which the part q of values is, for q in
// [0, 1]. There is at least one value.
func quantile[T ~int64](values []T, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return float64(sorted[int(q*float64(len(sorted)-1)+0.5)])
}

func ms(v float64) string        { return fmt.Sprintf("%.2f ms", v/float64(time.Millisecond)) }
func megabytes(v float64) string { return fmt.Sprintf("%.1f MB", v/1e6) }

// writeReport writes a table in Markdown, of each candidate's ratio to the
// first one and, in brackets, its value.
func writeReport(w io.Writer, title string, candidates []candidate, samples [][]sample) {
	fmt.Fprintf(w, "### %s\n\n|", title)
	for _, c := range candidates {
		fmt.Fprintf(w, " | %s", c.name)
	}
	fmt.Fprintf(w, " |\n|---%s|\n", strings.Repeat("|--:", len(candidates)))
	row := func(name string, format func(float64) string, values []float64) {
		fmt.Fprintf(w, "| %s", name)
		for i, v := range values {
			if i == 0 {
				fmt.Fprintf(w, " | %s", format(v))
			} else {
				fmt.Fprintf(w, " | %.2f (%s)", v/values[0], format(v))
			}
		}
		fmt.Fprintln(w, " |")
	}
	for _, m := range metrics(len(samples[0][0].warm) > 0) {
		var values []float64
		for _, all := range samples {
			values = append(values, m.of(all))
		}
		row(m.name, m.format, values)
	}
	var zips []float64
	for _, c := range candidates {
		zips = append(zips, float64(c.zip))
	}
	row("zip", megabytes, zips)
	fmt.Fprintln(w)
}
