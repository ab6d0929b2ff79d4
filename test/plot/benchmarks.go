package plot

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Benchmarks are what make bench measured: docs/benchmarks.json.
type Benchmarks struct {
	Date       string   `json:"date"`
	Go         string   `json:"go"`
	Machine    string   `json:"machine"`
	Rounds     int      `json:"rounds"`
	Candidates []string `json:"candidates"` // the first is what the others are compared with
	Rows       []Row    `json:"rows"`
}

// A Row has the median of each candidate, in milliseconds.
type Row struct {
	Name    string    `json:"name"`
	Medians []float64 `json:"medians"`
}

// The rows of the plots.
const (
	ColdStart    = "cold start: init and first call"
	ColdStart256 = "cold start with 256 MB"
	ColdStart128 = "cold start with 128 MB"
	WarmCall     = "warm call"
)

// drawBenchmarks draws the plots of docs/benchmarks.md and writes its table.
func drawBenchmarks(files map[string]string, data []byte, page string) error {
	var b Benchmarks
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	panels := []struct{ heading, row string }{
		{"Cold start with 256 MB, the template's setting", ColdStart256},
		{"Cold start with 128 MB", ColdStart128},
		{"Cold start with 1,769 MB, a whole processor", ColdStart},
		{"Warm call", WarmCall},
	}
	notes := []string{
		fmt.Sprintf("Medians of %d runs, Go %s, %s,", b.Rounds, b.Go, b.Date),
		"with stand-ins for Lambda, DynamoDB and the issuer",
	}
	var large, small canvas
	for i, p := range panels {
		medians, err := b.row(p.row)
		if err != nil {
			return err
		}
		var bars []bar
		for j, median := range medians {
			bars = append(bars, bar{b.Candidates[j], []part{{median, (gray + j) % (gray + 1)}}})
		}
		for _, c := range []*canvas{&large, &small} {
			if c == &small && i != 0 && i != len(panels)-1 {
				continue
			}
			c.heading(p.heading)
			c.bars("milliseconds", milliseconds, bars)
		}
	}
	large.notes(notes...)
	small.notes(notes...)
	const title = "Cold starts and warm calls of a minimal function and of the service"
	large.save(files, "docs/benchmarks", title)
	small.save(files, "docs/benchmarks-small", title)

	// In the page, the table and the line above it stand between two comments.
	const from, to = "<!-- make bench writes this table -->\n", "<!-- end of the table -->\n"
	before, rest, found1 := strings.Cut(page, from)
	_, after, found2 := strings.Cut(rest, to)
	if !found1 || !found2 {
		return fmt.Errorf("docs/benchmarks.md has no %q before %q", from, to)
	}
	files["docs/benchmarks.md"] = before + from + b.table() + to + after
	return nil
}

// milliseconds returns a duration with two or three digits.
func milliseconds(ms float64) string {
	digits := 2
	if ms >= 1 {
		digits = 1
	}
	if ms >= 100 {
		digits = 0
	}
	return fmt.Sprintf("%.*f ms", digits, ms)
}

// row returns the medians of a row.
func (b Benchmarks) row(name string) ([]float64, error) {
	for _, row := range b.Rows {
		if row.Name == name && len(row.Medians) == len(b.Candidates) {
			return row.Medians, nil
		}
	}
	return nil, fmt.Errorf("docs/benchmarks.json has no row %q with a median for each candidate", name)
}

// table returns all medians, with the ratios to the first in bold.
func (b Benchmarks) table() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Medians of %d runs on %s, Go %s, %s:\n\n", b.Rounds, b.Date, b.Go, b.Machine)
	fmt.Fprintf(&s, "| | %s |\n|---%s|\n", strings.Join(b.Candidates, " | "), strings.Repeat("|--:", len(b.Candidates)))
	for _, row := range b.Rows {
		fmt.Fprintf(&s, "| %s | %.2f ms |", row.Name, row.Medians[0])
		for _, median := range row.Medians[1:] {
			fmt.Fprintf(&s, " **%.2f** (%.2f ms) |", median/row.Medians[0], median)
		}
		s.WriteString("\n")
	}
	return s.String() + "\n"
}
