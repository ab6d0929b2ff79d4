package plants_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
)

// Stores rely on the alphabet and the length. The first letter keeps clients,
// which choose keys, from claiming the random token of another request.
func TestTokenForm(t *testing.T) {
	for token, kind := range map[plants.WriteToken]string{
		plants.NewWriteToken():         "r",
		plants.KeyedWriteToken("", ""): "k",
		plants.KeyedWriteToken(strings.Repeat("\U0010ffff", 63), strings.Repeat("~", 255)): "k",
	} {
		if form := regexp.MustCompile(`^` + kind + `[A-Za-z0-9_-]{43}$`); !form.MatchString(string(token)) {
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
		{"alice", "key"}, {"bob", "key"}, {"alice", "KEY"}, {"alic", "ekey"}, {"", "alicekey"}, {"alice\x00", "key"}, {"alice", "\x00key"},
	} {
		seen[plants.KeyedWriteToken(pair[0], pair[1])] = true
	}
	for range 10 {
		seen[plants.NewWriteToken()] = true
	}
	if len(seen) != 17 {
		t.Errorf("got %d different tokens, want 17", len(seen))
	}
}
