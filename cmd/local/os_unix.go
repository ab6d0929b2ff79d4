//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// Why a program can't listen on an address.
const (
	addressInUse     = syscall.EADDRINUSE
	addressForbidden = syscall.EACCES
)

func ownedBy(info fs.FileInfo, uid int) bool { return int(info.Sys().(*syscall.Stat_t).Uid) == uid }

func writableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
