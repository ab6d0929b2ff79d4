// Command costs prints the tables of costs in docs/operations.md. The prices are
// in prices.go; what a request uses is here.
package main

import (
	"fmt"
	"math"
	"strings"
)

func main() { fmt.Print(tables()) }

// What requests use, by the function's memory of 256 MB.
const (
	memoryGB = 0.25
	kb       = 1e-6 // in GB

	functionLog = 320 // bytes for one request
	platformLog = 540
	accessLog   = 340
	logBytes    = functionLog + platformLog + accessLog

	storedBytes = 300 // of a plant, and as many in the index
	listedBytes = 50  // of a plant in a list
	pageBytes   = 5 << 19

	secondsPerMonth = 730 * 3600
)

var (
	request = usage{requests: 1, gbSeconds: 0.010 * memoryGB, logGB: logBytes * 1e-9}
	write   = with(request, usage{writes: 2, egressGB: 0.4 * kb})
	list    = with(request, usage{reads: 0.5, egressGB: 4.096 * kb})
	refused = with(request, usage{egressGB: 0.4 * kb})

	// A create that DynamoDB throttles is retried for 0.7 s on average.
	throttled = with(refused, usage{gbSeconds: 0.7 * memoryGB})

	// A page of a long list: DynamoDB reads 1 MB in about 30 ms.
	plantsPerPage = math.Floor(pageBytes / listedBytes)
	page          = usage{
		requests: math.Ceil(pageBytes / 512e3), gbSeconds: plantsPerPage * storedBytes / 1e6 * 0.030 * memoryGB,
		reads: plantsPerPage * storedBytes / 4096 / 2, logGB: logBytes * 1e-9, egressGB: pageBytes * 1e-9,
	}
	plant = usage{storedGB: 2 * storedBytes * 1e-9, recoveryGB: storedBytes * 1e-9}
)

func with(u, v usage) usage {
	u.gbSeconds += v.gbSeconds
	u.writes += v.writes
	u.reads += v.reads
	u.egressGB += v.egressGB
	return u
}

// tables returns the tables in Markdown.
func tables() string {
	kinds := []usage{write, list, refused}
	const head = " | create, delete | list of 4 KB | refused (no token) |\n"
	var b strings.Builder

	b.WriteString("| a million requests" + head + "|---|---|---|---|\n")
	for i, service := range services {
		var cells []string
		sum := 0.0
		for _, u := range kinds {
			cost := u.times(1e6).cost()[i]
			sum += cost
			cells = append(cells, dollars(cost))
		}
		if sum > 0 {
			b.WriteString("| " + service + " | " + strings.Join(cells, " | ") + " |\n")
		}
	}
	b.WriteString("| **together** |")
	for _, u := range kinds {
		b.WriteString(" **" + dollars(u.times(1e6).total()) + "** |")
	}

	b.WriteString("\n\n| a month at a steady rate" + head + "|---|---|---|---|\n")
	for _, rate := range []float64{1, 50, 1000, 100_000} {
		fmt.Fprintf(&b, "| %s a second |", number(rate))
		for _, u := range kinds {
			b.WriteString(" " + dollars(u.times(rate*secondsPerMonth).total()) + " |")
		}
		b.WriteString("\n")
	}

	b.WriteString("\n| size | cost |\n|---|---|\n")
	for _, row := range []struct {
		size string
		cost float64
		per  string
	}{
		{"10⁹ plants, stored", plant.times(1e9).total(), "a month"},
		{"10⁹ plants, created", write.times(1e9).total(), "once"},
		{"one owner with 10⁷ plants, stored", plant.times(1e7).total(), "a month"},
		{"one owner with 10⁷ plants, listed once", page.times(1e7 / plantsPerPage).total(), "once"},
		{"a list of 10⁶ plants, page by page", page.times(1e6 / plantsPerPage).total(), "once"},
		{"one owner creating 5,000 a second, of which 1,000 succeed",
			write.times(1000*3600).total() + throttled.times(4000*3600).total(), "an hour"},
	} {
		fmt.Fprintf(&b, "| %s | %s %s |\n", row.size, dollars(row.cost), row.per)
	}

	const used = 0.7 // of the provisioned capacity
	provisioned := write.writes * provisionedWriteUnit / used
	b.WriteString("\n| change | saves of a million requests |\n|---|---|\n")
	for _, row := range []struct {
		change string
		saves  float64
	}{
		{"`LogLevel=warn`", logGB.cost(functionLog * 1e6 * 1e-9)},
		{"`SystemLogLevel: WARN`", logGB.cost(platformLog * 1e6 * 1e-9)},
		{"no `AccessLogSettings`", logGB.cost(accessLog * 1e6 * 1e-9)},
		{fmt.Sprintf("provisioned capacity, %.0f%% used, for creates and deletes", used*100), (writeUnit.cost(write.writes) - provisioned) * 1e6},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.change, dollars(row.saves))
	}
	return b.String()
}

// dollars formats an amount in cents, or from $100 with three significant digits.
func dollars(amount float64) string {
	switch {
	case amount == 0:
		return "–"
	case amount < 0.01:
		return fmt.Sprintf("$%.1g", amount)
	case amount < 100:
		return fmt.Sprintf("$%.2f", amount)
	}
	unit := math.Pow(10, math.Floor(math.Log10(amount))-2)
	return "$" + number(math.Round(amount/unit)*unit)
}

// number formats an integer with commas.
func number(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
