package records_test

import (
	"regexp"
	"testing"

	"example.com/plantstore/internal/records"
)

// Keys are stored, so a later version must produce the same ones. The first letter
// keeps clients, which choose headers, from claiming another request's random key.
func TestIdempotencyKeys(t *testing.T) {
	const want = "kFYHMkN5tjgC178ctdpY2w0MdM0VY4o_YI9LqW3_79lk"
	if got := records.HashWriteToken("alice", "key-1"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	seen := map[records.WriteToken]bool{}
	for _, pair := range [][2]string{{"alice", "key"}, {"bob", "key"}, {"alice", "KEY"}, {"alic", "ekey"}, {"", "alicekey"}} {
		seen[records.HashWriteToken(pair[0], pair[1])] = true
	}
	for range 2 {
		key := records.NewWriteToken()
		if seen[key] || !regexp.MustCompile(`^r[A-Z2-7]{26,43}$`).MatchString(string(key)) {
			t.Errorf("random key %q", key)
		}
		seen[key] = true
	}
	if len(seen) != 7 {
		t.Errorf("got %d different keys, want 7", len(seen))
	}
}
