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

// parseListQuery parses the query string of a list. Unknown parameters are
// ignored. A malformed pair, which [url.URL.Query] drops silently, is an error.
func parseListQuery(raw string) (q listQuery, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, failf(codeInvalidQuery, "malformed query string: check its %%-escapes, and "+
			"separate parameters with &, not ;")
	}
	for _, name := range []string{"limit", "cursor", "include"} {
		if len(values[name]) > 1 {
			return q, failf(codeInvalidQuery, "%s must be given at most once", name)
		}
	}
	if values.Has("limit") {
		limit := values.Get("limit")
		n, ok := parseInt64(limit)
		if !ok || n < 1 || n > math.MaxInt32 {
			return q, failf(codeInvalidQuery, "limit must be an integer from 1 to %d in plain digits, not %s",
				math.MaxInt32, excerpt.Quote(limit))
		}
		q.limit = int(n)
	}
	if values.Has("cursor") {
		cursor := values.Get("cursor")
		id, ok := parseCursor(cursor)
		if !ok {
			return q, failf(codeInvalidQuery, "cursor must come from the Link header of a list, not %s", excerpt.Quote(cursor))
		}
		q.after = &id
	}
	if values.Has("include") {
		include := values.Get("include")
		if include != "id" {
			return q, failf(codeInvalidQuery, "include must be id, not %s", excerpt.Quote(include))
		}
		q.includeID = true
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
