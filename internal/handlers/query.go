package handlers

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/url"
	"strconv"

	"example.com/plantstore/internal/plants"
)

// listQuery is what a client asks of a list.
type listQuery struct {
	limit     int    // 0 if there is none
	after     *int64 // from the cursor
	includeID bool
}

// parseListQuery reads the query string of a list. Unknown parameters are
// ignored; what would be silently dropped by the standard library is refused.
func parseListQuery(raw string) (q listQuery, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, failf(CodeInvalidQuery, "malformed query string: check its %%-escapes, and separate parameters with &, not ;")
	}
	for _, name := range []string{"limit", "cursor", "include"} {
		if len(values[name]) > 1 {
			return q, failf(CodeInvalidQuery, "%s must be given at most once", name)
		}
	}
	if values.Has("limit") {
		n, ok := parseInt64(values.Get("limit"))
		if !ok || n < 1 || n > math.MaxInt32 {
			return q, failf(CodeInvalidQuery, "limit must be an integer from 1 to 2147483647 in plain digits, not %s", excerpt(values.Get("limit")))
		}
		q.limit = int(n)
	}
	if values.Has("cursor") {
		id, ok := parseCursor(values.Get("cursor"))
		if !ok {
			return q, failf(CodeInvalidQuery, "cursor must come from the Link header of a list, not %s", excerpt(values.Get("cursor")))
		}
		q.after = &id
	}
	if values.Has("include") {
		if values.Get("include") != "id" {
			return q, failf(CodeInvalidQuery, "include must be id, not %s", excerpt(values.Get("include")))
		}
		q.includeID = true
	}
	return q, nil
}

// max returns the largest number of plants to list.
func (q listQuery) max() int {
	if q.limit == 0 {
		return math.MaxInt32 // far more than fit into one body
	}
	return q.limit
}

// element returns p as an element of the list, with a comma.
func (q listQuery) element(p *plants.Plant) []byte {
	b := plantBody{Name: p.Name, Tag: p.Tag}
	if q.includeID {
		b.ID = &p.ID
	}
	element := encode(b)
	element[len(element)-1] = ','
	return element
}

// nextLink returns the Link header (RFC 8288) to the plants after the given id.
// It is relative, so that it holds behind any host and base path.
func (q listQuery) nextLink(after int64) string {
	s := "<?"
	if q.limit > 0 {
		s += "limit=" + strconv.Itoa(q.limit) + "&"
	}
	s += "cursor=" + formatCursor(after)
	if q.includeID {
		s += "&include=id"
	}
	return s + `>; rel="next"`
}

// A cursor is the unpadded base64url of a version byte and the id of the last
// plant before the page, 8 bytes, big-endian. It holds no more, since the owner
// comes from the token: a forged cursor is only another place in one's own list.
const (
	cursorVersion = 1
	cursorLength  = 12 // characters
)

func formatCursor(id int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(id)))
}

func parseCursor(s string) (id int64, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	// The length is checked for itself, since the decoder skips line breaks.
	if err != nil || len(s) != cursorLength || len(b) != 9 || b[0] != cursorVersion {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b[1:])), true
}
