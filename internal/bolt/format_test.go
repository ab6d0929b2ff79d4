package bolt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"example.com/plantstore/internal/plants"
)

// Later versions must be able to read what this one writes.
func TestLayout(t *testing.T) {
	s := openTest(t, newPath(t))
	before := time.Now().Add(-time.Second)
	if err := s.Create(t.Context(), "al", plants.Plant{ID: -2, Name: "é<\x00", Tag: new("")}, "token"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := s.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				got[fmt.Sprintf("%s %q", bucket, k)] = string(v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	const plantKey = `plants "\x02al\x7f\xff\xff\xff\xff\xff\xff\xfe"`
	head, createdAt, _ := strings.Cut(got[plantKey], `"created_at":"`)
	createdAt, tail, _ := strings.Cut(createdAt, `"`)
	if head != `{"name":"é<\u0000","tag":"",` || tail != `,"write_token":"token"}` {
		t.Errorf("record %s", got[plantKey])
	}
	at, err := time.Parse(time.RFC3339Nano, createdAt)
	if err != nil || at.Location() != time.UTC || at.Before(before) || at.After(time.Now()) {
		t.Errorf("created_at %q (%v)", createdAt, err)
	}
	delete(got, plantKey)
	want := map[string]string{
		`meta "format"`:                          "1",
		`ids "\x7f\xff\xff\xff\xff\xff\xff\xfe"`: "al",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecordWithoutTag(t *testing.T) {
	at := time.Unix(0, 0).In(time.FixedZone("east", 3600))
	b, err := encode(plants.Plant{Name: "x"}, "token", at)
	if want := `{"name":"x","created_at":"1970-01-01T00:00:00Z","write_token":"token"}`; string(b) != want || err != nil {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}

func TestDamagedRecord(t *testing.T) {
	s := openTest(t, newPath(t))
	create(t, s, "alice", plants.Plant{ID: 7, Name: "rose"})
	key := appendID([]byte("\x05alice"), 7)
	for _, value := range []string{"", "{", `{"name":7}`, "\xff"} {
		err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(plantsBucket).Put(key, []byte(value)) })
		if err != nil {
			t.Fatal(err)
		}
		_, listErr := s.List(t.Context(), "alice", plants.Query{Limit: 1})
		createErr := s.Create(t.Context(), "alice", plants.Plant{ID: 7, Name: "x"}, plants.NewIdempotencyKey())
		for _, err := range []error{listErr, createErr} {
			if err == nil || !strings.Contains(err.Error(), "record of plant 7 is damaged") ||
				errors.Is(err, plants.ErrUnreachable) {
				t.Errorf("record %q: error %v", value, err)
			}
		}
	}
	if err := s.Delete(t.Context(), "alice", 7); err != nil {
		t.Errorf("deleting a damaged plant: %v", err)
	}
}
