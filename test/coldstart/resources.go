package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// cpuTime returns the processor time that a process has used. It adds up its
// threads: the process's own figure has steps of 10 ms.
// https://docs.kernel.org/scheduler/sched-stats.html
func cpuTime(pid int) (total time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		return 0, errors.Join(err, errors.New("no processor times in /proc: this program needs Linux"))
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if errors.Is(err, os.ErrNotExist) {
			continue // that thread has ended
		}
		var running time.Duration
		if _, scanErr := fmt.Fscan(bytes.NewReader(b), &running); err != nil || scanErr != nil {
			return 0, errors.Join(err, scanErr)
		}
		total += running
	}
	return total, nil
}

// peakMemory returns the most memory that a process had resident, in bytes.
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

// period is what a quota is a part of. It is shorter than Linux's own 100 ms: a
// short call would be over before it had used its part of that.
const period = 20 * time.Millisecond

// A quota is a control group whose processes share a part of one processor.
type quota struct{ dir string }

// newQuota makes a control group, of version 1 or 2, with the given percentage
// of one processor.
func newQuota(percent int) (quota, error) {
	limit := period.Microseconds() * int64(percent) / 100
	name := fmt.Sprintf("coldstart-%d", os.Getpid())
	v1 := quota{filepath.Join("/sys/fs/cgroup/cpu", name)}
	err := v1.make("cpu.cfs_period_us", fmt.Sprint(period.Microseconds()), "cpu.cfs_quota_us", fmt.Sprint(limit))
	if err == nil {
		return v1, nil
	}
	v2 := quota{filepath.Join("/sys/fs/cgroup", name)}
	// Already on in most roots; where it can't be set, the next line fails.
	os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+cpu"), 0)
	err2 := v2.make("cpu.max", fmt.Sprintf("%d %d", limit, period.Microseconds()))
	if err2 == nil {
		return v2, nil
	}
	return quota{}, fmt.Errorf("no quota of processor time can be set here: run this as root where /sys/fs/cgroup can be written (%w)", errors.Join(err, err2))
}

// make makes the group with settings, as file and value in turn. Without an
// error it exists.
func (q quota) make(settings ...string) error {
	if _, err := os.Stat(filepath.Dir(q.dir)); err != nil {
		return err
	}
	if err := os.Mkdir(q.dir, 0o755); err != nil {
		return err
	}
	for i := 0; i < len(settings); i += 2 {
		// Without O_CREATE: a file that isn't there is no setting.
		if err := write(filepath.Join(q.dir, settings[i]), settings[i+1]); err != nil {
			return errors.Join(err, q.remove())
		}
	}
	return nil
}

// add puts a process under the quota, with all its threads.
func (q quota) add(pid int) error {
	return write(filepath.Join(q.dir, "cgroup.procs"), fmt.Sprint(pid))
}

// remove removes the group, in which nothing runs any more.
func (q quota) remove() error { return os.Remove(q.dir) }

func write(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
