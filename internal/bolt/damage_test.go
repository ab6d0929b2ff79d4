package bolt

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"example.com/plantstore/internal/plants"
)

// sound returns the bytes of a file that has pages of every kind: branches,
// leaves, a free list, and values that run over several pages.
func sound(t testing.TB) []byte {
	t.Helper()
	path := newPath(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	load(t, s, "alice", -200, 400)
	load(t, s, "bob", 1000, 30)
	long := string(bytes.Repeat([]byte("\x00"), plants.MaxNameLength)) // 1.5 KiB in JSON
	for id := range int64(10) {
		create(t, s, "carol", plants.Plant{ID: 5000 + id, Name: long, Tag: &long})
	}
	for id := int64(-200); id < 100; id += 3 {
		if err := s.Delete(t.Context(), "alice", id); err != nil {
			t.Fatal(err)
		}
		id += 30
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFile(t *testing.T) {
	good, page := sound(t), os.Getpagesize()
	patched := func(at int, b ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], b)
		return bad
	}
	tests := map[string][]byte{
		"one byte":                 good[:1],
		"text":                     []byte("plants: none\n"),
		"much text":                bytes.Repeat([]byte("plants: none\n"), 10_000),
		"zeros":                    make([]byte, 64<<10),
		"less than a page":         good[:page/2],
		"one page":                 good[:page],
		"the meta pages only":      good[:2*page],
		"three pages":              good[:3*page],
		"half":                     good[:len(good)/2],
		"meta 0 zeroed":            patched(0, make([]byte, page)...),
		"meta 1 zeroed":            patched(page, make([]byte, page)...),
		"both metas zeroed":        patched(0, make([]byte, 2*page)...),
		"a bit of meta 0":          patched(20, good[20]^1),
		"a bit of meta 1":          patched(page+70, good[page+70]^1),
		"everything but the metas": patched(2*page, make([]byte, len(good)-2*page)...),
	}
	for title, b := range tests {
		t.Run(title, func(t *testing.T) {
			path := newPath(t)
			write(t, path, b)
			mustLeave(t, path, path, "damaged", "put back a copy, or move it away")
		})
	}
}

// Each page in turn is lost.
func TestDamagedPage(t *testing.T) {
	good, page := sound(t), os.Getpagesize()
	path := newPath(t)
	damage := 0
	for at := 0; at < len(good); at += page {
		bad := bytes.Clone(good)
		for i := range page {
			bad[at+i] = 0xff
		}
		write(t, path, bad)
		if mustSurvive(t, path) != nil {
			damage++
			mustLeave(t, path, path, "damaged")
		}
	}
	// The others are free, or beyond the last page.
	if damage < 20 {
		t.Errorf("only %d lost pages of %d are noticed", damage, len(good)/page)
	}
}

// Whatever a few changed bytes make of the file: it is refused and left as it
// is, or it works.
func TestChangedBytes(t *testing.T) {
	good := sound(t)
	random := rand.New(rand.NewPCG(1, 2))
	path := newPath(t)
	refused := 0
	const rounds = 400
	for range rounds {
		bad := bytes.Clone(good)
		for range 1 + random.IntN(3) {
			// Most of the numbers that lead elsewhere stand early in a page.
			at := random.IntN(len(bad))
			if random.IntN(3) > 0 {
				at = at&^(os.Getpagesize()-1) + random.IntN(128)
			}
			bad[at] = byte(random.Uint32())
		}
		write(t, path, bad)
		if mustSurvive(t, path) != nil {
			refused++
			mustLeave(t, path, path, "damaged")
		}
	}
	if refused < rounds/4 || refused == rounds {
		t.Errorf("%d of %d files were refused", refused, rounds)
	}
}

// mustSurvive opens the file and returns the error, or uses the store all over
// and fails the test if that leaves a file that can't be opened.
func mustSurvive(t testing.TB, path string) error {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		return err
	}
	s.db.NoSync, s.db.MaxBatchDelay = true, 0 // for speed
	for _, owner := range []string{"alice", "bob", "carol"} {
		use(t.Context(), s, owner)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open(path); err != nil {
		t.Errorf("after use: %v", err)
		return nil
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return nil
}

// use lists, creates and deletes. A record may be damaged, so errors are no
// failure here; only a crash is.
func use(ctx context.Context, s *Store, owner string) {
	page, _ := s.List(ctx, owner, plants.Query{Limit: maxPage})
	for i, p := range page.Plants {
		if i%20 == 0 {
			_ = s.Delete(ctx, owner, p.ID)
		}
	}
	for id := range int64(3) {
		_ = s.Create(ctx, owner, plants.Plant{ID: 3000 + id, Name: "x"}, plants.NewWriteToken())
		_ = s.Create(ctx, owner, plants.Plant{ID: -3000 - id, Name: fmt.Sprint("x", id)}, plants.NewWriteToken())
	}
}

// FuzzOpen changes eight bytes of a sound file, at a place.
func FuzzOpen(f *testing.F) {
	good := sound(f)
	f.Add(uint32(0), uint64(0))
	f.Add(uint32(4096*3+8), uint64(0xffff_ffff_0002_ffff))
	f.Add(uint32(4096*2+12), uint64(1<<40))
	path := newPath(f)
	f.Fuzz(func(t *testing.T, at uint32, value uint64) {
		bad := bytes.Clone(good)
		order.PutUint64(bad[int(at)%(len(bad)-8):], value)
		write(t, path, bad)
		_ = mustSurvive(t, path)
	})
}
