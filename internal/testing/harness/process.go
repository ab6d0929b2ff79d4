// Package harness provides tests with external programs, kept in the user's cache,
// and with the programs of this module.
package harness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Buffer collects what a program writes while a test reads it. It is safe for
// concurrent use. The zero Buffer is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns the contents.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A Process is a running program.
type Process struct {
	Cmd            *exec.Cmd
	Stdout, Stderr Buffer
	Exited         chan struct{} // closed when the program has exited
}

// running has the processes that [Main] stops.
var running sync.Map

// attributes are those of each program. They are set on Linux.
var attributes *syscall.SysProcAttr

// Start starts a program. If its caller doesn't stop it, [Main] does. On Linux the
// program also ends if this process is killed.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, Exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	cmd.WaitDelay = time.Minute // in case a child process keeps the pipes open
	cmd.SysProcAttr = attributes
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	running.Store(p, nil)
	go func() {
		cmd.Wait() // the outcome is in ProcessState
		running.Delete(p)
		close(p.Exited)
	}()
	return p, nil
}

// Await waits until the output matches the pattern, and returns the match with its
// groups. It fails the test after [Patience], or if the program exits.
func (p *Process) Await(tb testing.TB, pattern string) (match []string) {
	tb.Helper()
	return p.AwaitFor(tb, Patience, pattern)
}

// AwaitFor is like Await with another limit: see the function [AwaitFor].
func (p *Process) AwaitFor(tb testing.TB, limit time.Duration, pattern string) (match []string) {
	tb.Helper()
	re := regexp.MustCompile(pattern)
	AwaitFor(tb, limit, func() error {
		output := p.Stdout.String() + p.Stderr.String()
		if match = re.FindStringSubmatch(output); match != nil {
			return nil
		}
		select {
		case <-p.Exited:
			tb.Fatalf("%s has exited:\n%s", p.Cmd, output)
		default:
		}
		return fmt.Errorf("%s does not print %q:\n%s", p.Cmd, pattern, output)
	})
	return match
}

// Stop asks the program to exit, by SIGTERM, and calls Wait.
func (p *Process) Stop() (code int) {
	if runtime.GOOS == "windows" {
		p.Kill() // Windows has no SIGTERM
		return 0
	}
	p.Cmd.Process.Signal(syscall.SIGTERM) // fails if it has exited
	return p.Wait()
}

// Wait waits until the program exits, and returns its exit code. After [Patience]
// it kills the program and returns -1, as for any program that a signal has ended.
func (p *Process) Wait() (code int) {
	select {
	case <-p.Exited:
	case <-time.After(limited(Patience)):
		failed.Store(true)
		p.Kill()
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Kill kills the program and waits until it has exited.
func (p *Process) Kill() {
	p.Cmd.Process.Kill() // fails if it has exited
	<-p.Exited
}

// FreePort returns a TCP port of the loopback interface for a program that can't
// choose one itself. Operating systems choose higher ones for others, so no
// program is likely to get it first.
func FreePort() (port string, err error) {
	for range 100 {
		port = fmt.Sprint(10_000 + rand.IntN(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", err
}
