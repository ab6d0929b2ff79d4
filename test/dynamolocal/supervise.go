package dynamolocal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"example.com/plantstore/test/tools"
)

// What a test starts must end with the test process, even if that is killed or
// panics. So the test binary starts itself as a supervisor, connected by a pipe:
//
//	test process ──pipe──> supervisor ──> command
//
// When the test process ends, for whatever reason, the system closes the pipe.
// Then the supervisor kills the command, and runs another one to clean up.

// superviseEnv tells a test binary that it is the supervisor.
const superviseEnv = "DYNAMOTEST_SUPERVISE"

// separator is between the command and the one that cleans up.
const separator = "--then--"

func init() {
	if os.Getenv(superviseEnv) != "" {
		supervise(os.Args[1:])
		os.Exit(0)
	}
}

// supervise is the program of the supervisor.
func supervise(args []string) {
	os.Unsetenv(superviseEnv)
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // they end the test process, and so the pipe
	i := slices.Index(args, separator)
	command, cleanUp := args[:i], args[i+1:]
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cmd.Process.Kill()
	}()
	cmd.Wait()
	if len(cleanUp) > 0 {
		exec.Command(cleanUp[0], cleanUp[1:]...).Run()
	}
}

// A supervised command ends with this process.
type supervised struct {
	name   string
	pipe   io.Closer
	output *tools.Buffer
	gone   chan struct{} // closed when the command and its supervisor have ended
}

// startSupervised starts a command. After it has ended, cleanUp is run, which
// may be nil.
func startSupervised(command, cleanUp []string) (*supervised, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &supervised{name: command[0], output: new(tools.Buffer), gone: make(chan struct{})}
	cmd := exec.Command(self, slices.Concat(command, []string{separator}, cleanUp)...)
	cmd.Env = append(os.Environ(), superviseEnv+"=1")
	// Not our standard error: go test waits until every process has closed it.
	cmd.Stderr = s.output
	if s.pipe, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		cmd.Wait() // it keeps the pipe from being closed as garbage
		close(s.gone)
	}()
	return s, nil
}

// ready returns nil once DynamoDB answers at the endpoint. Otherwise it stops
// the command and returns an error.
func (s *supervised) ready(endpoint string) error {
	err := waitUntilReady(endpoint, startTimeout, s.gone)
	select {
	case <-s.gone: // and another server has the port, if any answers
		return errors.New(s.name + " ended: " + s.output.String())
	default:
	}
	if err != nil {
		s.pipe.Close()
		select {
		case <-s.gone:
		case <-time.After(10 * time.Second):
		}
		return fmt.Errorf("%s does not answer at %s: %w", s.name, endpoint, err)
	}
	return nil
}
