//go:build !unix

package tools

import (
	"errors"
	"os/exec"
)

// A Process needs Unix.
type Process struct {
	Output Buffer
	Exited chan struct{}
}

// Start returns an error.
func Start(*exec.Cmd, string) (*Process, error) { return nil, errors.New("needs a Unix shell") }
