package recordstest

import (
	"math"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/plants"
)

// Plants returns the examples of plants for [TestStore], the same for each store.
func Plants() []plants.Plant {
	return []plants.Plant{
		{Name: "Basil", Tag: new("herb")},
		{Name: "Basil"},
		{Name: "Basil", Tag: new("")},
		{Name: "Fern", Tag: new("herb")},
	}
}

// A Sample has a field of each kind that a resource may have. With it, the tests of a
// store show that it keeps every kind.
type Sample struct {
	Name  string      `json:"name"`
	Note  *string     `json:"note,omitzero"`
	Count int64       `json:"count"`
	Small *int32      `json:"small,omitzero"`
	Done  bool        `json:"done"`
	At    time.Time   `json:"at"`
	Until *time.Time  `json:"until,omitzero"`
	Parts []string    `json:"parts,omitzero"`
	Sizes []int64     `json:"sizes,omitzero"`
	Flags []*bool     `json:"flags,omitzero"`
	Days  []time.Time `json:"days,omitzero"`
}

// Validate implements [records.Fields].
func (Sample) Validate() error { return nil }

// Samples returns examples of samples. The first has all fields, and most others differ
// from it in one.
func Samples() []Sample {
	day := time.Date(2026, 2, 28, 23, 59, 59, 999999999, time.UTC)
	full := Sample{
		Name: "  x  ", Note: new("note"), Count: 7, Small: new(int32(7)), Done: true, At: day, Until: &day,
		Parts: []string{"a", "b"}, Sizes: []int64{1, 2}, Flags: []*bool{new(true), new(false)}, Days: []time.Time{day, day.AddDate(0, 0, 1)},
	}
	all := []Sample{full, {}, {Name: strings.Join(unusualStrings, ""), Note: new(strings.Join(unusualStrings, "")), Parts: unusualStrings}}
	for _, change := range []func(*Sample){
		func(s *Sample) { s.Name = "x" },
		func(s *Sample) { s.Note = new("") },
		func(s *Sample) { s.Note = nil },
		func(s *Sample) { s.Count = math.MinInt64 },
		func(s *Sample) { s.Small = new(int32(0)) },
		func(s *Sample) { s.Small = nil },
		func(s *Sample) { s.Done = false },
		func(s *Sample) { s.At = day.Add(1) },
		func(s *Sample) { s.Until = new(time.Unix(0, 0).UTC()) },
		func(s *Sample) { s.Until = nil },
		func(s *Sample) { s.Parts = []string{"b", "a"} },
		func(s *Sample) { s.Parts = []string{} },
		func(s *Sample) { s.Parts = nil },
		func(s *Sample) { s.Sizes = []int64{1<<53 + 1, math.MaxInt64, math.MinInt64} },
		func(s *Sample) { s.Sizes = []int64{} },
		func(s *Sample) { s.Sizes = nil },
		func(s *Sample) { slices.Reverse(s.Flags) },
		func(s *Sample) { s.Flags = []*bool{} },
		func(s *Sample) { s.Flags = nil },
		func(s *Sample) { s.Days = []time.Time{day} },
		func(s *Sample) { s.Days = []time.Time{} },
		func(s *Sample) { s.Days = nil },
	} {
		s := full
		s.Flags = slices.Clone(full.Flags)
		change(&s)
		all = append(all, s)
	}
	return all
}

// unusualStrings are strings that storage systems and encodings are known to
// change.
var unusualStrings = []string{
	"  x  ", "\r\nx\r\n\t", "a\x00b", "\x00", "line\u2028line\u2029line\u0085line", "\ufeffx", "x\ufffd\ufffe\uffff",
	"\u00e9", "e\u0301", "\u0301", "\u212b", "\ufb01", "ß", "ẞ", "ı", "İ", "\u200b\u200d\u202e", "\U0001f468\u200d\U0001f469",
	"\\", `\u0041`, `<a href="x">&amp;'`, `{"a":1}`, "%s%%", "null", "true", "0", "1e5", "name", "#name", ":name", "../..",
	strings.Repeat("\U0010ffff", 256), strings.Repeat(`"\`, 128),
	"\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\u0080\u009f\u00a0",
}
