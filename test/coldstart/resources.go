package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// cpuTime returns the processor time that a process has used. It adds up the
// times of its threads, because the time of the process has a resolution of only
// 10 ms. https://docs.kernel.org/scheduler/sched-stats.html
func cpuTime(pid int) (total time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, thread := range threads {
		var running time.Duration
		if b, readErr := os.ReadFile(thread); readErr == nil { // else the thread has ended
			_, err = fmt.Sscan(string(b), &running)
		}
		total += running
	}
	if err != nil || total == 0 {
		return 0, errors.Join(err, fmt.Errorf("no processor time of process %d in /proc; this program needs Linux", pid))
	}
	return total, nil
}

// peakMemory returns the largest resident set of a process so far, in bytes.
// https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
func peakMemory(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(b, []byte("VmHWM:"))
	var kb int64
	if _, err := fmt.Fscan(bytes.NewReader(after), &kb); err != nil {
		return 0, fmt.Errorf("VmHWM of process %d: %w", pid, err)
	}
	return kb << 10, nil
}

const (
	// share is the percentage of a processor that Lambda is said to give a
	// function of 128 MB. Linux allows no less than 5 here.
	share = 7

	// period is the time over which Linux enforces the share. In its default of
	// 100 ms, a short call would never reach the limit.
	period = 20 * time.Millisecond
)

// A quota is the folder of a control group whose processes together may use a
// share of one processor.
type quota string

// newQuota creates a control group of version 1 or, failing that, version 2.
func newQuota() (quota, error) {
	name, whole := fmt.Sprintf("coldstart-%d", os.Getpid()), period.Microseconds()
	limit := whole * share / 100
	v1 := quota("/sys/fs/cgroup/cpu/" + name)
	err1 := errors.Join(os.Mkdir(string(v1), 0o755),
		v1.set("cpu.cfs_period_us", whole), v1.set("cpu.cfs_quota_us", limit))
	if err1 == nil {
		return v1, nil
	}
	v1.remove()
	v2 := quota("/sys/fs/cgroup/" + name)
	err2 := errors.Join(os.Mkdir(string(v2), 0o755),
		v2.set("../cgroup.subtree_control", "+cpu"), v2.set("cpu.max", fmt.Sprint(limit, whole)))
	if err2 == nil {
		return v2, nil
	}
	v2.remove()
	return "", fmt.Errorf("can't limit the processor; run this as root with a writable /sys/fs/cgroup: %w", errors.Join(err1, err2))
}

// add adds a process with all its threads to the group.
func (q quota) add(pid int) error { return q.set("cgroup.procs", pid) }

// remove removes the group. Its processes must have exited.
func (q quota) remove() error { return os.Remove(string(q)) }

// set writes to a file that the kernel has created.
func (q quota) set(file string, value any) error {
	return os.WriteFile(filepath.Join(string(q), file), fmt.Append(nil, value), 0)
}
