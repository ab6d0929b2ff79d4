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
