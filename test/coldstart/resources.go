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

	// period is the time that the share is a share of. It is shorter than Linux's
	// default of 100 ms, in which a short call would never reach its limit.
	period = 20 * time.Millisecond
)

// A quota is a control group whose processes together may use a share of one
// processor.
type quota struct{ dir string }

// newQuota creates a control group of version 1 or, failing that, version 2.
func newQuota() (quota, error) {
	whole, name := period.Microseconds(), fmt.Sprintf("coldstart-%d", os.Getpid())
	limit := whole * share / 100
	var errs error
	for _, version := range []struct {
		root     string
		settings [][2]string
	}{
		{"/sys/fs/cgroup/cpu", [][2]string{{"cpu.cfs_period_us", fmt.Sprint(whole)}, {"cpu.cfs_quota_us", fmt.Sprint(limit)}}},
		{"/sys/fs/cgroup", [][2]string{{"../cgroup.subtree_control", "+cpu"}, {"cpu.max", fmt.Sprintf("%d %d", limit, whole)}}},
	} {
		q := quota{filepath.Join(version.root, name)}
		err := os.Mkdir(q.dir, 0o755)
		for _, s := range version.settings {
			err = errors.Join(err, q.set(s[0], s[1]))
		}
		if err == nil {
			return q, nil
		}
		q.remove()
		errs = errors.Join(errs, err)
	}
	return quota{}, fmt.Errorf("can't limit the processor; run this as root with a writable /sys/fs/cgroup: %w", errs)
}

// add adds a process with all its threads to the group.
func (q quota) add(pid int) error { return q.set("cgroup.procs", fmt.Sprint(pid)) }

// remove removes the group. Its processes must have exited.
func (q quota) remove() error { return os.Remove(q.dir) }

// set writes to a file that the kernel has created.
func (q quota) set(file, value string) error {
	return os.WriteFile(filepath.Join(q.dir, file), []byte(value), 0)
}
