package main

import (
	"os"
	"strings"
	"testing"
)

func TestOperationsPage(t *testing.T) {
	const name = "docs/operations.md"
	page, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	for table := range strings.SplitSeq(tables(), "\n\n") {
		if !strings.Contains(string(page), strings.TrimSpace(table)) {
			t.Errorf("%s lacks this table; copy the output of go run ./test/costs:\n%s", name, table)
		}
	}
}

// The last units of an amount have the price of their tier.
func TestTiers(t *testing.T) {
	prices := tiers{{10, 3}, {20, 2}, {1000, 1}}
	for n, want := range map[float64]float64{0: 0, 10: 30, 11: 32, 30: 70, 31: 71} {
		if got := prices.cost(n); got != want {
			t.Errorf("%v units cost %v, want %v", n, got, want)
		}
	}
}
