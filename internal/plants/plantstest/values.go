package plantstest

import (
	"context"
	"fmt"
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
	var got []plants.Plant
	s.settles(t, func(ctx context.Context) (err error) {
		if got, err = s.read(ctx, owner, nil, 10); err == nil && len(got) != len(want) {
			err = fmt.Errorf("the list has %d plants, want %d", len(got), len(want))
		}
		return err
	})
	// Each plant was written once, so a difference is not a stale read.
	for i := range got {
		if d := Difference(got[i], want[i]); d != "" {
			t.Fatalf("%T changed a plant: %s; make its Create write the field and its List read it", s.Store, d)
		}
	}
}

// Every valid string is returned unchanged.
func testStrings(t *testing.T, s suite) {
	owner := randomOwner()
	texts := slices.Concat(unusualStrings(), codePoints())
	all := randomPlants(t, len(texts))
	for i := range all {
		all[i].Name, all[i].Tag = texts[i], &texts[i]
		if err := all[i].Validate(); err != nil {
			t.Fatalf("plant %d: %v", i, err)
		}
		s.create(t, owner, all[i])
	}
	s.has(t, owner, nil, 50, all...)
}

// unusualStrings returns strings that storage systems and encodings are known
// to change.
func unusualStrings() []string {
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
