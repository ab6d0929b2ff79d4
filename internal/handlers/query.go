package handlers

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/url"
	"strconv"

	"example.com/plantstore/internal/excerpt"
)

// A listQuery holds the query parameters of a list.
type listQuery struct {
	limit     int    // 0 if absent
	after     *int64 // from the cursor
	includeID bool
}

// listParameters are the query parameters of a list. The rule completes "limit must …".
var listParameters = []struct {
	name, rule string
	parse      func(q *listQuery, value string) (ok bool)
}{
	{"limit", "be an integer from 1 to 2147483647 in plain digits", func(q *listQuery, value string) bool {
		n, ok := parseInt64(value)
		q.limit = int(n)
		return ok && n >= 1 && n <= math.MaxInt32
	}},
	{"cursor", "come from the Link header of a list", func(q *listQuery, value string) bool {
		id, ok := parseCursor(value)
		q.after = &id
		return ok
	}},
	{"include", "be id", func(q *listQuery, value string) bool {
		q.includeID = value == "id"
		return q.includeID
	}},
}

// parseListQuery parses the query string of a list. Unknown parameters are
// ignored. A malformed pair, which [url.URL.Query] drops silently, is an error.
func parseListQuery(raw string) (q listQuery, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, failf(codeInvalidQuery, "malformed query string: check its %%-escapes, and "+
			"separate parameters with &, not ;")
	}
	for _, p := range listParameters {
		switch sent := values[p.name]; {
		case len(sent) > 1:
			return q, failf(codeInvalidQuery, "%s must be given at most once", p.name)
		case len(sent) == 1 && !p.parse(&q, sent[0]):
			return q, failf(codeInvalidQuery, "%s must %s, not %s", p.name, p.rule, excerpt.Quote(sent[0]))
		}
	}
	return q, nil
}

// from returns the query string of the page that starts after the given id.
func (q listQuery) from(id int64) string {
	query := "cursor=" + formatCursor(id)
	if q.limit > 0 {
		query = "limit=" + strconv.Itoa(q.limit) + "&" + query
	}
	if q.includeID {
		query += "&include=id"
	}
	return query
}

const cursorVersion = 1

// formatCursor returns a cursor: the unpadded base64url encoding of a version byte and the last
// id of the previous page, as 8 bytes in big-endian order. It needs no protection: the owner
// comes from the token, so a forged cursor only selects another part of the caller's own list.
func formatCursor(id int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(id)))
}

func parseCursor(s string) (id int64, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 9 {
		return 0, false
	}
	id = int64(binary.BigEndian.Uint64(b[1:]))
	return id, formatCursor(id) == s // rejects other versions, and line breaks, which the decoder skips
}
