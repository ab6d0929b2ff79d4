package bolt

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Each rule for pages notices what only it can notice.
func TestCheckNamesTheFault(t *testing.T) {
	tests := []struct {
		want  string
		kind  uint16 // of the pages to patch, one at a time
		patch func(page []byte)
	}{
		{"says that it is page", leafPage, func(p []byte) { order.PutUint64(p, 1) }},
		{"it is of kind 7", leafPage, func(p []byte) { order.PutUint16(p[8:], 7) }},
		{"it is empty", leafPage, func(p []byte) { order.PutUint16(p[10:], 0) }},
		{"does not exist", leafPage, func(p []byte) { order.PutUint32(p[12:], 1<<20) }},
		{"is used twice", leafPage, func(p []byte) { order.PutUint32(p[12:], 1) }},
		{"the data of element 0 lie outside", leafPage, func(p []byte) { order.PutUint32(p[20:], 1<<32-8) }},
		{"the key of element 1 is out of order", leafPage, func(p []byte) {
			// As the key of element 0, which is 16 bytes further from it.
			order.PutUint32(p[36:], order.Uint32(p[20:])-elementSize)
			order.PutUint32(p[40:], order.Uint32(p[24:]))
		}},
		{"is out of order", leafPage, func(p []byte) { // the last key comes after those of the next page
			last := headerSize + elementSize*(int(order.Uint16(p[10:]))-1)
			p[last+int(order.Uint32(p[last+4:]))] = 0xff
		}},
		{"a bucket is too short", leafPage, func(p []byte) {
			order.PutUint32(p[16:], bucketFlag)
			order.PutUint32(p[28:], bucketSize-1)
		}},
		{"the bucket in element 0: it is too short", leafPage, func(p []byte) {
			pos, keySize := order.Uint32(p[20:]), order.Uint32(p[24:])
			order.PutUint32(p[16:], bucketFlag)
			order.PutUint32(p[28:], bucketSize)
			order.PutUint64(p[16+pos+keySize:], 0) // root
		}},
		{"it is empty", branchPage, func(p []byte) { order.PutUint16(p[10:], 0) }},
		{"does not exist", branchPage, func(p []byte) { order.PutUint64(p[24:], 1<<40) }},
		{"the key of element 0 is out of order", branchPage, func(p []byte) {
			order.PutUint32(p[20:], order.Uint32(p[20:])-1) // lower than its child's first
		}},
		{"is no list of free pages", freelistPage, func(p []byte) { order.PutUint16(p[8:], leafPage) }},
		{"is no list of free pages", freelistPage, func(p []byte) { order.PutUint16(p[10:], 0xFFFE) }},
		{"is no list of free pages", freelistPage, func(p []byte) { // the count is the first id
			order.PutUint16(p[10:], 0xFFFF)
			order.PutUint64(p[16:], 1<<60)
		}},
		{"the list of free pages: page 1 does not exist", freelistPage, func(p []byte) { order.PutUint64(p[16:], 1) }},
		{"the list of free pages: page", freelistPage, func(p []byte) { order.PutUint64(p[24:], order.Uint64(p[16:])) }},
		{"neither in use nor free", freelistPage, func(p []byte) { order.PutUint16(p[10:], order.Uint16(p[10:])-1) }},
	}
	good, size, path := sound(t), os.Getpagesize(), newPath(t)
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			var got []string
			for at := 2 * size; at < len(good); at += size {
				if kind := order.Uint16(good[at+8:]); kind != test.kind {
					continue
				}
				bad := bytes.Clone(good)
				test.patch(bad[at : at+size])
				write(t, path, bad)
				s, err := Open(path)
				if err == nil { // a page left over from before, or a root, which may be empty
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if strings.Contains(err.Error(), test.want) {
					return
				}
				got = append(got, err.Error())
			}
			t.Errorf("no page gave this fault: %q", got)
		})
	}
}

func TestCheckNamesTheMissingEnd(t *testing.T) {
	good, path := sound(t), newPath(t)
	write(t, path, good[:len(good)/2])
	mustLeave(t, path, "bytes of")
}

// Elements are parsed where a page may hold none.
func TestElementOutside(t *testing.T) {
	page := make([]byte, headerSize+2*elementSize)
	for i, want := range []bool{true, true, false, false} {
		if _, err := parseElement(page, leafPage, i); (err == nil) != want {
			t.Errorf("element %d: %v", i, err)
		}
	}
}
