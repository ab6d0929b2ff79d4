//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// isOthers reports whether a file belongs to another user than this one or root.
func isOthers(info fs.FileInfo) bool {
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	return owner != 0 && owner != os.Geteuid()
}
