package main

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// period is the period of a share. AWS doesn't document its own.
const period = 20 * time.Millisecond

// limit gives a process a share of a processor until end is called: in each period it
// stops the process once its processor time is used up. Time that the process doesn't
// use is lost. What it takes too much comes off the next periods. A control group does
// the same, but needs root.
func limit(p *os.Process, share float64) (end func()) {
	ended := make(chan struct{})
	quota := time.Duration(share * float64(period))
	go func() {
		used, left := cpuTime(p.Pid), quota
		for {
			select {
			case <-ended:
				return
			default:
			}
			next := time.Now().Add(period)
			if left > 0 {
				p.Signal(syscall.SIGCONT)
			}
			for cpuTime(p.Pid)-used < left && time.Now().Before(next) {
				syscall.Nanosleep(&syscall.Timespec{Nsec: 50_000}, nil) // time.Sleep takes a millisecond or more
			}
			if time.Now().Before(next) {
				p.Signal(syscall.SIGSTOP)
				time.Sleep(time.Until(next))
			}
			now := cpuTime(p.Pid)
			used, left = now, min(left-(now-used)+quota, quota)
		}
	}()
	return func() { close(ended) }
}

// cpuTime returns the processor time of a process, exact also while it runs, unlike the
// figures in /proc. It is zero if the process has ended. Package syscall has no function
// for the clock of a process, which is CPUCLOCK_SCHED of Linux.
func cpuTime(pid int) time.Duration {
	var t syscall.Timespec
	clock := uintptr(^pid<<3 | 2)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
