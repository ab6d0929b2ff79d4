package tools

import (
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"
)

// supervisor runs the command "$@". When its standard input is closed, at the
// latest by the end of the process that started it, it stops the command and its
// child processes. After the command it runs the shell command $1.
const supervisor = `
after=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
command=$!
trap : TERM # not earlier: until "$@" is executed, its process would have the trap too
exec >/dev/null 2>&1 # writing to a closed pipe would end it
{ cat <&3; kill -TERM 0; } &
wait $command || wait $command
eval "$after"
`

// A Process is a command that ends with this process, even if this process is
// killed or panics.
type Process struct {
	Output Buffer        // standard output and standard error
	Exited chan struct{} // closed when the command and what runs after it have exited

	name  string
	cmd   *exec.Cmd // the supervisor
	alive io.Closer // keeps the command running
}

// Start starts a command. After it has exited, the shell command after is run.
// Start needs a Unix shell.
func Start(cmd *exec.Cmd, after string) (*Process, error) {
	p := &Process{Exited: make(chan struct{}), name: cmd.String(), cmd: cmd}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	cmd.Args = slices.Concat([]string{"sh", "-c", supervisor, "sh", after, cmd.Path}, cmd.Args[1:])
	cmd.Path = "/bin/sh"
	cmd.Stdout, cmd.Stderr = &p.Output, &p.Output
	newSession(cmd)
	var err error
	if p.alive, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		cmd.Wait() // it also keeps alive from being closed as garbage
		close(p.Exited)
	}()
	return p, nil
}

// Await waits until the output matches the pattern, and returns the match with its
// groups.
func (p *Process) Await(tb testing.TB, pattern string) (match []string) {
	tb.Helper()
	re := regexp.MustCompile(pattern)
	Await(tb, func() error {
		select {
		case <-p.Exited:
			tb.Fatalf("%s has exited:\n%s", p.name, p.Output.String())
		default:
		}
		if match = re.FindStringSubmatch(p.Output.String()); match == nil {
			return fmt.Errorf("%s does not print %q:\n%s", p.name, pattern, p.Output.String())
		}
		return nil
	})
	return match
}

// Stop stops the command and waits until it has exited. If that takes longer than
// [Patience], it kills the command and returns false.
func (p *Process) Stop() bool {
	p.alive.Close()
	select {
	case <-p.Exited:
		return true
	case <-time.After(Patience()):
		killSession(p.cmd)
		return false
	}
}
