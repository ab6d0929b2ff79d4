package bolt

import (
	"errors"
	"fmt"
)

const bucketSize = 16 // without a page that may follow

// An element is one entry of a branch or leaf page.
type element struct {
	key      []byte
	value    []byte // of a leaf
	child    uint64 // of a branch or a bucket: its page
	isBucket bool
}

// parseElement returns element i of a branch or leaf page.
func parseElement(page []byte, kind uint16, i int) (element, error) {
	from := headerSize + elementSize*i
	if from+elementSize > len(page) {
		return element{}, fmt.Errorf("element %d lies outside", i)
	}
	b := page[from:]
	var e element
	var pos, keySize, valueSize uint32
	if kind == branchPage {
		pos, keySize, e.child = order.Uint32(b), order.Uint32(b[4:]), order.Uint64(b[8:])
	} else {
		e.isBucket = order.Uint32(b)&bucketFlag != 0
		pos, keySize, valueSize = order.Uint32(b[4:]), order.Uint32(b[8:]), order.Uint32(b[12:])
	}
	key := uint64(pos)
	value := key + uint64(keySize)
	end := value + uint64(valueSize)
	if end > uint64(len(b)) {
		return element{}, fmt.Errorf("the data of element %d lie outside", i)
	}
	e.key, e.value = b[key:value], b[value:end]
	if e.isBucket {
		if len(e.value) < bucketSize {
			return element{}, errors.New("a bucket is too short")
		}
		e.child = order.Uint64(e.value)
	}
	return e, nil
}
