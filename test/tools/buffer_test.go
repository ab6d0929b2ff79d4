package tools

import (
	"io"
	"strings"
	"sync"
	"testing"
)

func TestBuffer(t *testing.T) {
	var b Buffer
	var group sync.WaitGroup
	var taken strings.Builder
	for range 8 {
		group.Go(func() {
			for range 100 {
				io.WriteString(&b, "ab")
			}
		})
	}
	for range 50 {
		taken.WriteString(b.Take())
	}
	group.Wait()
	rest := b.String()
	if b.Take() != rest || b.String() != "" {
		t.Error("Take does not return all, or leaves something")
	}
	if all := taken.String() + rest; all != strings.Repeat("ab", 800) {
		t.Errorf("%d bytes were taken, want 1600 in order", len(all))
	}
}
