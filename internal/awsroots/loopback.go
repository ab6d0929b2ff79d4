//go:build loopback_as_aws

package awsroots

import "os"

// No deployment has this build tag. With it, this machine is one of AWS's hosts, and the
// certificates in LOOPBACK_ROOTS are roots of AWS: the tests and benchmarks of
// cmd/lambda connect to AWS like that.
func init() {
	suffixes = append(suffixes, "127.0.0.1")
	bundle = append(bundle, os.Getenv("LOOPBACK_ROOTS")...)
}
