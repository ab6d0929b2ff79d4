package plantstest

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.com/plantstore/internal/plants"
)

// A plant without a tag and one with an empty tag stay apart.
func testTags(t *testing.T, s suite) {
	owner, all := randomOwner(), randomPlants(3)
	all[0].Tag, all[1].Tag, all[2].Tag = nil, new(""), new("tag")
	for _, p := range all {
		s.create(t, owner, p)
	}
	s.has(t, owner, nil, 10, all...)
}

// Every string that the rules let through comes back as it was, as a name and
// as a tag.
func testStrings(t *testing.T, s suite) {
	owner := randomOwner()
	texts := slices.Concat(oddStrings(), codePoints())
	all := randomPlants(len(texts))
	for i := range all {
		all[i].Name, all[i].Tag = texts[i], &texts[i]
		if err := all[i].Validate(); err != nil {
			t.Fatalf("plant %d: %v", i, err)
		}
		s.create(t, owner, all[i])
	}
	s.has(t, owner, nil, 50, all...)
}

// oddStrings returns strings that storage and encodings are known to change.
func oddStrings() []string {
	return []string{
		"  x  ", "\r\nx\r\n\t", "a\x00b", "\x00", "\x01\x1f\x7f\u0080\u009f", "line\u2028line\u2029line\u0085line",
		"\ufeffx", "x\ufffd\ufffex\uffff", "\ud7ff\ue000", "\U0010ffff", "\u200b\u200d\u202e",
		"\u00e9", "e\u0301", "\u0301", "\u212b", "\u00c5", "\ufb01", "ß", "ẞ", "ı", "İ", "İstanbul",
		"\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "日本語", "עברית", "\U000e0041",
		`<a href="x">&amp;'`, `\`, `\u0041`, `\x00`, `"`, `{"a":1}`, "%s%d%%", "null", "true", "0", "1e5", "NaN",
		"name", "NAME", "#name", ":name", "../..", strings.Repeat("x", plants.MaxNameLength),
		strings.Repeat("\U0010ffff", plants.MaxNameLength), strings.Repeat("e\u0301", plants.MaxNameLength/2),
		strings.Repeat("\x00", plants.MaxNameLength), strings.Repeat(`"\`, plants.MaxNameLength/2),
	}
}

// codePoints returns strings that together hold every code point up to U+00FF,
// and of each block of 256 above it the first and the last, up to the end of
// the last plane; 256 in a string.
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
