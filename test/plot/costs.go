package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// drawCosts draws the plots of docs/costs.md from two of its tables.
func drawCosts(files map[string]string, page string) error {
	million, err := readTable(page, "a million requests")
	if err != nil {
		return err
	}
	month, err := readTable(page, "a month at a steady rate")
	if err != nil {
		return err
	}

	var lines canvas
	lines.heading("Cost of a month at a steady rate")
	lines.legend(month.columns)
	lines.y += 10
	all := make([]series, len(month.columns))
	for _, row := range month.rows {
		rate, err := parseNumber(strings.TrimSuffix(row.name, " a second"))
		if err != nil {
			return err
		}
		for i, dollars := range row.values {
			all[i].x, all[i].y = append(all[i].x, rate), append(all[i].y, dollars)
		}
	}
	lines.logLog("requests a second", "dollars a month", [2]int{0, 5}, [2]int{0, 6}, all)
	lines.save(files, "docs/costs", "Dollars a month over requests a second")

	var parts canvas
	parts.heading("What a million requests cost")
	bars := make([]bar, len(million.columns))
	var names []string
	last := len(million.rows) - 1 // together
	for i, row := range million.rows[:last] {
		names = append(names, row.name)
		for j, dollars := range row.values {
			bars[j].label = million.columns[j]
			bars[j].parts = append(bars[j].parts, part{dollars, i})
		}
	}
	for j, b := range bars {
		sum := 0.0
		for _, p := range b.parts {
			sum += p.value
		}
		if together := million.rows[last].values[j]; math.Abs(sum-together) > 0.001 {
			return fmt.Errorf("%s: the rows are $%.2f together, not $%.2f", b.label, sum, together)
		}
	}
	parts.legend(names)
	parts.y += 12
	parts.bars("dollars", func(dollars float64) string { return fmt.Sprintf("$%.2f", dollars) }, bars)
	parts.save(files, "docs/costs-million", "What a million requests cost, by service of AWS")
	return nil
}

// A table of a page has names in its first row and column, and numbers elsewhere.
type table struct {
	columns []string
	rows    []row
}

type row struct {
	name   string
	values []float64
}

// readTable returns the table of the page that begins with this cell.
func readTable(page, first string) (t table, err error) {
	_, text, found := strings.Cut(page, "\n| "+first+" |")
	if !found {
		return t, fmt.Errorf("the page has no table that begins with %q", first)
	}
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")
	t.columns = cells(lines[0])
	for _, line := range lines[2:] {
		all := cells(strings.TrimPrefix(line, "|"))
		r := row{name: all[0]}
		for _, cell := range all[1:] {
			value, err := parseNumber(cell)
			if err != nil {
				return t, err
			}
			r.values = append(r.values, value)
		}
		t.rows = append(t.rows, r)
	}
	return t, nil
}

// cells returns the cells of a row without its first bar, and without bold.
func cells(line string) (all []string) {
	for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|") {
		all = append(all, strings.Trim(cell, " *"))
	}
	return all
}

// parseNumber parses a number such as $1,000.50, or – for nothing.
func parseNumber(cell string) (float64, error) {
	if cell == "–" {
		return 0, nil
	}
	return strconv.ParseFloat(strings.NewReplacer("$", "", ",", "").Replace(cell), 64)
}
