package logging

import "strconv"

// maxText is how many characters of a client's text a log line or a message repeats.
const maxText = 64

// Truncate shortens a client's text for a log line or a message. It puts an ellipsis
// after the characters that it keeps.
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
