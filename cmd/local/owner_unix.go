//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByAnother reports whether a file belongs to a user other than this one and root.
func ownedByAnother(info fs.FileInfo) bool {
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	return owner != 0 && owner != os.Geteuid()
}
