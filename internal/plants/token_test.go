package plants

import (
	"regexp"
	"strings"
	"testing"
)

// Stores and logs rely on the alphabet and on the length.
var tokenForm = regexp.MustCompile(`^[rk][A-Za-z0-9_-]{43}$`)

func TestTokenForm(t *testing.T) {
	for _, token := range []WriteToken{
		NewWriteToken(),
		KeyedWriteToken("", ""),
		KeyedWriteToken("alice", "key"),
		KeyedWriteToken(strings.Repeat("\U0010ffff", 63), strings.Repeat("~", 255)),
	} {
		if !tokenForm.MatchString(string(token)) {
			t.Errorf("%q does not match %v", token, tokenForm)
		}
	}
}

func TestNewWriteTokenIsNew(t *testing.T) {
	seen := map[WriteToken]bool{}
	for range 1000 {
		token := NewWriteToken()
		if seen[token] {
			t.Fatalf("%q came twice", token)
		}
		seen[token] = true
	}
}

// Tokens are stored: a program that made others of the same keys would not know
// the requests of those before it.
func TestKeyedWriteTokenStaysTheSame(t *testing.T) {
	const want = "kFYHMkN5tjgC178ctdpY2w0MdM0VY4o_YI9LqW3_79lk"
	if got := KeyedWriteToken("alice", "key-1"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestKeyedWriteTokenDiffers(t *testing.T) {
	seen := map[WriteToken][2]string{}
	for _, pair := range [][2]string{
		{"alice", "key"}, {"bob", "key"}, {"alice", "KEY"}, {"alic", "ekey"}, {"alicek", "ey"},
		{"", "alicekey"}, {"alicekey", ""}, {"", ""}, {"alice\x00", "key"}, {"alice", "\x00key"},
	} {
		token := KeyedWriteToken(pair[0], pair[1])
		if first, ok := seen[token]; ok {
			t.Errorf("%q and %q have the same token", first, pair)
		}
		seen[token] = pair
	}
}

// A random token is never one of a key, or a client could guess at it.
func TestTokenKindsAreApart(t *testing.T) {
	if random, keyed := NewWriteToken(), KeyedWriteToken("alice", "key"); random[0] == keyed[0] {
		t.Errorf("%q and %q begin alike", random, keyed)
	}
}
