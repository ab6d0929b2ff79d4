package main

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// Why a program can't listen on an address. Package syscall has only made-up values
// for these.
const (
	addressInUse     = windows.WSAEADDRINUSE
	addressForbidden = windows.WSAEACCES
)

// On Windows, a new directory is as private as the one that it is in.

func ownedBy(fs.FileInfo, int) bool { return true }

func writableByOthers(fs.FileInfo) bool { return false }
