package logging

import "strconv"

// maxText is the maximum number of characters of a client's text in a log line or a message.
const maxText = 64

// Truncate shortens a client's text for a log line or a message. It replaces the rest of a
// long text with an ellipsis.
func Truncate(s string) string {
	n := 0
	for i := range s {
		if n == maxText {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Quote truncates and quotes a client's text for a message or a log line.
func Quote(s string) string { return strconv.Quote(Truncate(s)) }
