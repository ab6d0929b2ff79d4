// Package issuers tests the plain server with tokens of real issuers, which it
// downloads and starts. The tests have the build tag issuers, see make issuers.
package issuers
