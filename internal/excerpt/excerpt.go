// Package excerpt shortens text from clients, tokens and issuers for messages and log lines.
package excerpt

import "strconv"

// maxLength is in characters.
const maxLength = 64

// Truncate shortens s, for an attribute of a log line. It replaces the rest of a long text with
// an ellipsis.
func Truncate(s string) string {
	n := 0
	for i := range s {
		if n == maxLength {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Quote truncates and quotes s, for use within a sentence.
func Quote(s string) string { return strconv.Quote(Truncate(s)) }
