package dynamolocal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// What a test starts must not outlive the test process, which may be killed or
// panic before it can end anything. So the test binary runs once more as a
// supervisor, with a pipe of which the test process holds the other end:
//
//	test process ──pipe──> supervisor ──> command
//
// The system closes the pipe when the test process ends, whatever the reason.
// Then the supervisor kills the command and runs another to clean up after it.
// Signals to the test process and all its kind (Ctrl-C) don't reach it. This is
// the one way that all systems have in common.

// superviseEnv tells a test binary that it is the supervisor.
const superviseEnv = "DYNAMOTEST_SUPERVISE"

// separator stands between the command and the one that cleans up.
const separator = "--then--"

func init() {
	if os.Getenv(superviseEnv) != "" {
		os.Exit(supervise(os.Args[1:]))
	}
}

// supervise is the supervisor's whole program. It returns its exit code.
func supervise(args []string) int {
	os.Unsetenv(superviseEnv)
	i := slices.Index(args, separator)
	command, cleanUp := args[:i], args[i+1:]
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cmd.Process.Kill()
	}()
	err := cmd.Wait()
	if len(cleanUp) > 0 {
		exec.Command(cleanUp[0], cleanUp[1:]...).Run()
	}
	if err != nil {
		return 1
	}
	return 0
}

// A supervised command is one that ends with this process.
type supervised struct {
	name   string
	pipe   io.Closer
	output *buffer
	gone   chan struct{} // closed when the command and its supervisor have ended
}

// running keeps the pipes from being closed as garbage.
var running struct {
	sync.Mutex
	commands []*supervised
}

// startSupervised starts a command. The command cleanUp, which may be nil, is
// run after it has ended.
func startSupervised(command, cleanUp []string) (*supervised, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &supervised{name: command[0], output: &buffer{}, gone: make(chan struct{})}
	cmd := exec.Command(self, slices.Concat(command, []string{separator}, cleanUp)...)
	cmd.Env = append(os.Environ(), superviseEnv+"=1")
	detach(cmd)
	// Not our own standard error: go test waits until all who have it are gone.
	cmd.Stderr = s.output
	if s.pipe, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		cmd.Wait()
		close(s.gone)
	}()
	running.Lock()
	running.commands = append(running.commands, s)
	running.Unlock()
	return s, nil
}

// ready returns the endpoint once DynamoDB answers there. If it doesn't, the
// command is stopped.
func (s *supervised) ready(endpoint string) (string, error) {
	err := waitUntilReady(endpoint, startTimeout, s.gone)
	select {
	case <-s.gone:
		return "", s.failure()
	default:
	}
	if err != nil {
		s.stop()
		return "", fmt.Errorf("%s does not answer at %s: %w", s.name, endpoint, err)
	}
	return endpoint, nil
}

// stop ends the command and waits for that.
func (s *supervised) stop() {
	s.pipe.Close()
	select {
	case <-s.gone:
	case <-time.After(10 * time.Second):
	}
}

// failure returns why the command has ended.
func (s *supervised) failure() error {
	if out := s.output.String(); out != "" {
		return fmt.Errorf("%s: %s", s.name, out)
	}
	return errors.New(s.name + " ended at once")
}

// A buffer keeps the first part of what is written to it.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const most = 16 << 10
	b.b.Write(p[:min(len(p), most-min(most, b.b.Len()))])
	return len(p), nil
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
