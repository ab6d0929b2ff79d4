package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"go.etcd.io/bbolt"
)

// Pages of a bbolt file. Numbers have the byte order of the machine.
//
//	page      id 8 │ kind 2 │ count 2 │ overflow 4 │ …
//	meta      magic 4 │ version 4 │ page size 4 │ flags 4 │ root 8 │ sequence 8 │
//	          freelist 8 │ pages 8 │ transaction 8 │ checksum 8 (FNV-1a)
//	branch    (pos 4 │ key size 4 │ page 8) × count, keys
//	leaf      (flags 4 │ pos 4 │ key size 4 │ value size 4) × count, keys and values
//	freelist  page 8 × count; a count of 0xFFFF stands in the first of them
//
// A pos counts from the start of its element. A bucket is a leaf's value, root 8
// │ sequence 8, and if root is 0 its only page follows there.
//
// The source is internal/common in bbolt, files page.go, meta.go and bucket.go.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	headerSize  = 16
	elementSize = 16
	bucketFlag  = 0x01

	minPageSize = 1024
)

var order = binary.NativeEndian

// A checker reads the pages of a database, each at most once.
type checker struct {
	file     *os.File
	pageSize uint64
	used     []bool // by page
}

// checkPages returns an error unless every page that tx can reach holds what a
// reader or writer takes for granted, each page has one use, and the keys are in
// order. It reads the file and not the mapped memory, where a wrong page number
// or length is a fault that may end the process. (bbolt's own Tx.Check follows
// them in a goroutine of its own, where a fault can't be recovered from.)
//
// bbolt has no checksums of data: a change within a key or a value passes if
// what it makes is in order.
func checkPages(tx *bbolt.Tx, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	c := &checker{file: file, pageSize: uint64(tx.DB().Info().PageSize)}
	if c.pageSize < minPageSize || tx.Size() < 2*int64(c.pageSize) {
		return fmt.Errorf("it has pages of %d bytes", c.pageSize)
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("it has %d bytes of %d", info.Size(), tx.Size())
	}
	c.used = make([]bool, uint64(tx.Size())/c.pageSize)
	root, freelist, err := c.meta(uint64(tx.ID()))
	if err != nil {
		return err
	}
	if err := c.tree(root); err != nil {
		return err
	}
	if err := c.freelist(freelist); err != nil {
		return err
	}
	for id, used := range c.used[2:] {
		if !used {
			return fmt.Errorf("page %d is neither in use nor free", id+2)
		}
	}
	return nil
}

// meta returns the pages where the state that txid left begins. It is in one of
// the first two pages; the other one has the state before.
//
// Both must be whole, though bbolt makes do with one, whichever it is: a meta
// page is written within one sector of a disk, which a crash does not tear. If
// one is not whole then it may be the last, and to go on from the other would be
// to forget plants that clients have been told are stored.
func (c *checker) meta(txid uint64) (root, freelist uint64, err error) {
	for id := range uint64(2) {
		page, err := c.bytes(id, 1)
		if err != nil {
			return 0, 0, err
		}
		meta := page[headerSize:]
		sum := fnv.New64a()
		sum.Write(meta[:56])
		if order.Uint64(meta[56:]) != sum.Sum64() {
			return 0, 0, fmt.Errorf("page %d has a wrong checksum", id)
		}
		if order.Uint64(meta[48:]) == txid {
			root, freelist = order.Uint64(meta[16:]), order.Uint64(meta[32:])
		}
	}
	return root, freelist, nil
}

// bytes reads n pages from id on.
func (c *checker) bytes(id, n uint64) ([]byte, error) {
	b := make([]byte, n*c.pageSize)
	_, err := c.file.ReadAt(b, int64(id*c.pageSize))
	return b, err
}

// page reads the page id with those that it runs over into, and takes note that
// they are in use.
func (c *checker) page(id uint64) ([]byte, error) {
	if err := c.use(id); err != nil {
		return nil, err
	}
	page, err := c.bytes(id, 1)
	if err != nil {
		return nil, err
	}
	if self := order.Uint64(page); self != id {
		return nil, fmt.Errorf("page %d says that it is page %d", id, self)
	}
	overflow := uint64(order.Uint32(page[12:]))
	if overflow == 0 {
		return page, nil
	}
	for next := range overflow {
		if err := c.use(id + 1 + next); err != nil {
			return nil, err
		}
	}
	return c.bytes(id, 1+overflow)
}

func (c *checker) use(id uint64) error {
	if id < 2 || id >= uint64(len(c.used)) {
		return fmt.Errorf("page %d does not exist", id)
	}
	if c.used[id] {
		return fmt.Errorf("page %d is used twice", id)
	}
	c.used[id] = true
	return nil
}

// A subtree is a page of a bucket's tree, and where in the order of keys it
// belongs: its first key, unless it is the root, and a bound above its last,
// unless it is at the right edge. A writer finds a page's place in its parent by
// that first key.
type subtree struct {
	page         uint64
	first, bound []byte
}

// tree checks the bucket whose root is given, and the buckets in it.
func (c *checker) tree(root uint64) error {
	todo := []subtree{{page: root}}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		page, err := c.page(next.page)
		if err != nil {
			return err
		}
		children, err := checkNode(page, next.first, next.bound)
		if err != nil {
			return fmt.Errorf("page %d: %w", next.page, err)
		}
		todo = append(todo, children...)
	}
	return nil
}

// checkNode checks a branch or leaf page and returns what it leads to.
func checkNode(page, first, bound []byte) ([]subtree, error) {
	kind, count := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	if kind != leafPage && kind != branchPage {
		return nil, fmt.Errorf("it is of kind %d", kind)
	}
	if count == 0 && (kind == branchPage || first != nil) {
		return nil, errors.New("it is empty")
	}
	var children []subtree
	var last []byte
	for i := range count {
		e, err := parseElement(page, kind, i)
		if err != nil {
			return nil, err
		}
		if i == 0 && first != nil && !bytes.Equal(e.key, first) ||
			i > 0 && bytes.Compare(e.key, last) <= 0 ||
			bound != nil && bytes.Compare(e.key, bound) >= 0 {
			return nil, fmt.Errorf("the key of element %d is out of order", i)
		}
		if kind == branchPage && i > 0 {
			children[i-1].bound = e.key
		}
		switch {
		case kind == branchPage:
			children = append(children, subtree{e.child, e.key, bound})
		case e.isBucket && e.child != 0:
			children = append(children, subtree{page: e.child})
		case e.isBucket:
			inner, err := checkInline(e.value)
			if err != nil {
				return nil, fmt.Errorf("the bucket in element %d: %w", i, err)
			}
			children = append(children, inner...)
		}
		last = e.key
	}
	return children, nil
}

// checkInline checks a bucket whose only page follows its root and sequence.
func checkInline(bucket []byte) ([]subtree, error) {
	if len(bucket) < bucketSize+headerSize {
		return nil, errors.New("it is too short")
	}
	return checkNode(bucket[bucketSize:], nil, nil)
}

// freelist checks the list of free pages.
func (c *checker) freelist(id uint64) error {
	page, err := c.page(id)
	if err != nil {
		return err
	}
	ids, count := page[headerSize:], uint64(order.Uint16(page[10:]))
	if count == 0xFFFF {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if kind := order.Uint16(page[8:]); kind != freelistPage || count > uint64(len(ids))/8 {
		return fmt.Errorf("page %d is no list of free pages", id)
	}
	for i := range count {
		if err := c.use(order.Uint64(ids[8*i:])); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	return nil
}
