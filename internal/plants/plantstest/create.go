package plantstest

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
)

// Every field is returned as it was stored, whether set, zero or nil.
func testFields(t *testing.T, s suite) {
	owner, p := randomOwner(), randomPlant(t)
	want := append(Variants(t, p), p)
	for i := range want {
		want[i].ID = p.ID + int64(i)
		s.create(t, owner, want[i])
	}
	s.has(t, owner, nil, 10, want...)
}

// Every valid string is returned unchanged.
func testStrings(t *testing.T, s suite) {
	owner := randomOwner()
	texts := slices.Concat(unusualStrings(), codePoints())
	all := randomPlants(t, len(texts))
	for i := range all {
		all[i] = withText(all[i], texts[i])
		s.create(t, owner, all[i])
	}
	s.has(t, owner, nil, 50, all...)
}

// unusualStrings returns strings that storage systems and encodings are known
// to change.
func unusualStrings() []string {
	return []string{
		"  x  ", "\r\nx\r\n\t", "a\x00b", "\x00", "line\u2028line\u2029line\u0085line", "\ufeffx", "x\ufffd\ufffe\uffff",
		"\u00e9", "e\u0301", "\u0301", "\u212b", "\ufb01", "ß", "ẞ", "ı", "İ", "\u200b\u200d\u202e", "\U0001f468\u200d\U0001f469",
		"\\", `\u0041`, `<a href="x">&amp;'`, `{"a":1}`, "%s%%", "null", "true", "0", "1e5", "name", "#name", ":name", "../..",
		strings.Repeat("\U0010ffff", plants.MaxNameLength), strings.Repeat(`"\`, plants.MaxNameLength/2),
	}
}

// codePoints returns strings of MaxNameLength code points that together contain
// every code point up to U+00FF, and the first and the last of every further
// block of 256.
func codePoints() []string {
	var all []rune
	for r := range rune(unicode.MaxRune + 1) {
		if low := r & 0xff; (r <= 0xff || low == 0 || low == 0xff) && utf8.ValidRune(r) {
			all = append(all, r)
		}
	}
	var texts []string
	for part := range slices.Chunk(all, plants.MaxNameLength) {
		texts = append(texts, string(part))
	}
	return texts
}

// A second Create of an id changes nothing. It succeeds only as a retry: by the
// same owner, with the same token and the same plant.
func testSecondCreate(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(t), plants.NewIdempotencyKey()
	s.createWith(t, alice, p, token)
	for _, other := range Variants(t, p) {
		s.wantCreate(t, plants.ErrKeyReused, alice, other, token)
	}
	for _, other := range append(Variants(t, p), p) {
		s.wantCreate(t, plants.ErrInUse, alice, other, plants.NewIdempotencyKey())
		s.wantCreate(t, plants.ErrInUse, bob, other, plants.NewIdempotencyKey())
		s.wantCreate(t, plants.ErrInUse, bob, other, token)
	}
	s.wantCreate(t, nil, alice, p, token)
	s.has(t, alice, nil, 10, p)
	s.has(t, bob, nil, 10)
}

// The same token creates another plant with another id.
func testKeyPerID(t *testing.T, s suite) {
	owner, all, token := randomOwner(), randomPlants(t, 2), plants.NewIdempotencyKey()
	for _, p := range all {
		s.createWith(t, owner, p, token)
	}
	s.has(t, owner, nil, 10, all...)
}

// After a Delete the same token can create the plant again, the same or not. So
// can another owner.
func testCreateAfterDelete(t *testing.T, s suite) {
	alice, bob, p, token := randomOwner(), randomOwner(), randomPlant(t), plants.NewIdempotencyKey()
	for _, again := range append(Variants(t, p), p) {
		s.createWith(t, alice, again, token)
		s.has(t, alice, nil, 10, again)
		s.wantDelete(t, nil, alice, p.ID)
		s.wantDelete(t, plants.ErrNotFound, alice, p.ID)
	}
	s.create(t, bob, p)
	s.has(t, alice, nil, 10)
	s.has(t, bob, nil, 10, p)
}
