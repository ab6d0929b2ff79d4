//go:build !linux

package main

import (
	"os"
	"time"
)

func limit(*os.Process, float64) (end func()) { panic("bench needs Linux") }

func cpuTime(int) time.Duration { panic("bench needs Linux") }
