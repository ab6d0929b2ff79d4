package plants_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// Stores rely on the alphabet and the length.
func TestTokenForm(t *testing.T) {
	form := regexp.MustCompile(`^[rk][A-Za-z0-9_-]{43}$`)
	for _, token := range []plants.WriteToken{
		plants.NewWriteToken(),
		plants.KeyedWriteToken("", ""),
		plants.KeyedWriteToken(strings.Repeat("\U0010ffff", 63), strings.Repeat("~", 255)),
	} {
		if !form.MatchString(string(token)) {
			t.Errorf("%q does not match %v", token, form)
		}
	}
}

// Tokens are stored, so a later version must produce the same ones.
func TestKeyedWriteTokenIsStable(t *testing.T) {
	const want = "kFYHMkN5tjgC178ctdpY2w0MdM0VY4o_YI9LqW3_79lk"
	if got := plants.KeyedWriteToken("alice", "key-1"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTokensDiffer(t *testing.T) {
	seen := map[plants.WriteToken]bool{}
	for _, pair := range [][2]string{
		{"alice", "key"}, {"bob", "key"}, {"alice", "KEY"}, {"alic", "ekey"}, {"alicek", "ey"},
		{"", "alicekey"}, {"alicekey", ""}, {"", ""}, {"alice\x00", "key"}, {"alice", "\x00key"},
	} {
		seen[plants.KeyedWriteToken(pair[0], pair[1])] = true
	}
	for range 10 {
		seen[plants.NewWriteToken()] = true
	}
	if len(seen) != 20 {
		t.Errorf("got %d different tokens, want 20", len(seen))
	}
}

// A client that could choose a random token could claim another request.
func TestTokenKindsDiffer(t *testing.T) {
	if random, keyed := plants.NewWriteToken(), plants.KeyedWriteToken("alice", "key"); random[0] == keyed[0] {
		t.Errorf("%q and %q start with the same letter", random, keyed)
	}
}
