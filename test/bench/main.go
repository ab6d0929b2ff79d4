// Command bench runs the Go benchmarks behind docs/benchmarks.md and prints the
// page's tables and charts. It takes a few minutes.
package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/plantstore/test/bench/report"
	"example.com/plantstore/test/tools"
)

// A comparison is a table with the results of one run of go test. Its benchmarks
// must measure both columns in turns, so that background load affects both.
type comparison struct {
	title   string
	args    []string // of go test
	columns []string
	format  string  // of a value
	unit    float64 // of a value, in the unit of the benchmark
	rows    []row
}

// A row names the values of both columns by benchmark and unit, as in the output
// of go test but without the prefix Benchmark.
type row struct{ name, first, second string }

const µs = 1000 // in ns

var comparisons = []comparison{
	{
		title:   "Embedded store: durable creates per second, over HTTP",
		args:    []string{"-bench", "^BenchmarkCreate$", "-benchtime", "8x", "example.com/plantstore/test/bench"},
		columns: []string{"1 client", "more clients"}, format: "%.0f", unit: 1,
		rows: []row{
			{"8 clients", "Create PlantStore-creates/s/1", "Create PlantStore-creates/s/8"},
			{"64 clients", "Create PlantStore-creates/s/1", "Create PlantStore-creates/s/64"},
		},
	},
	{
		title:   "Embedded store: a page of 100 plants",
		args:    []string{"-bench", "^BenchmarkListPage$", "example.com/plantstore/internal/bolt"},
		columns: []string{"of 1,000", "of 1,000,000"}, format: "%.0f µs", unit: µs,
		rows: []row{
			{"first page", "ListPage/anywhere=false ns/page-1k", "ListPage/anywhere=false ns/page-1M"},
			{"any page", "ListPage/anywhere=true ns/page-1k", "ListPage/anywhere=true ns/page-1M"},
		},
	},
	{
		title:   "HTTP handler, without network and store",
		args:    []string{"-bench", "^BenchmarkService$", "example.com/plantstore/internal/handlers"},
		columns: []string{"cached token", "new token"}, format: "%.0f µs", unit: µs,
		rows: []row{
			{"create, ES256", "Service/create/seen ns/op", "Service/create/ES256 ns/op"},
			{"create, RS256", "Service/create/seen ns/op", "Service/create/RS256 ns/op"},
			{"list of 100, ES256", "Service/list100/seen ns/op", "Service/list100/ES256 ns/op"},
			{"list of 100, RS256", "Service/list100/seen ns/op", "Service/list100/RS256 ns/op"},
			{"delete, ES256", "Service/delete/seen ns/op", "Service/delete/ES256 ns/op"},
			{"delete, RS256", "Service/delete/seen ns/op", "Service/delete/RS256 ns/op"},
		},
	},
	{
		title:   "Requests per second over HTTP, compared with PocketBase",
		args:    []string{"-bench", "^BenchmarkPeers$", "-benchtime", "5x", "example.com/plantstore/test/bench"},
		columns: []string{"PocketBase", "Plant Store"}, format: "%.0f", unit: 1,
		rows: []row{
			{"create, 1 client", "Peers PocketBase-creates/s/1", "Peers PlantStore-creates/s/1"},
			{"create, 8 clients", "Peers PocketBase-creates/s/8", "Peers PlantStore-creates/s/8"},
			{"create, 64 clients", "Peers PocketBase-creates/s/64", "Peers PlantStore-creates/s/64"},
			{"list of 100, 1 client", "Peers PocketBase-lists/s/1", "Peers PlantStore-lists/s/1"},
			{"list of 100, 8 clients", "Peers PocketBase-lists/s/8", "Peers PlantStore-lists/s/8"},
			{"delete, 1 client", "Peers PocketBase-deletes/s/1", "Peers PlantStore-deletes/s/1"},
			{"delete, 8 clients", "Peers PocketBase-deletes/s/8", "Peers PlantStore-deletes/s/8"},
		},
	},
}

func main() {
	for _, c := range comparisons {
		table, err := c.run()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		table.Write(os.Stdout)
	}
}

// run runs the benchmarks. args are further arguments for go test.
func (c comparison) run(args ...string) (report.Table, error) {
	args = slices.Concat([]string{"test", "-timeout", "0", "-run", "^$"}, args, c.args)
	out, err := tools.Run("go", args...)
	if err != nil {
		return report.Table{}, err
	}
	return c.table(out)
}

// table returns the table of the results in the output of go test.
func (c comparison) table(out string) (report.Table, error) {
	t := report.Table{Title: c.title, Columns: c.columns}
	results := parse(out)
	for _, r := range c.rows {
		line := report.Row{Name: r.name, Format: c.format}
		for _, key := range []string{r.first, r.second} {
			value, ok := results[key]
			if !ok {
				return t, fmt.Errorf("%s: no %q in the output of go test:\n%s", c.title, key, out)
			}
			line.Values = append(line.Values, value/c.unit)
		}
		t.Rows = append(t.Rows, line)
	}
	return t, nil
}

// processors is the suffix of a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// parse returns the results in the output of go test by benchmark and unit.
// https://go.dev/design/14313-benchmark-format
func parse(out string) map[string]float64 {
	results := make(map[string]float64)
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") || len(fields) < 4 {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				results[name+" "+fields[i+1]] = value
			}
		}
	}
	return results
}
