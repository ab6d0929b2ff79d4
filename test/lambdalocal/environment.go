package lambdalocal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"example.com/plantstore/test/tools"
)

// Options say what function to run.
type Options struct {
	// Binary is the path of the program.
	Binary string

	// Env is added to the variables that Lambda sets, or replaces them. The
	// program gets nothing from the environment of this process.
	Env []string

	// Timeout is the time that an invocation may take. Default: 10 s.
	Timeout time.Duration

	// Concurrency is the number of environments of a [Function] at one time.
	// Default: 1.
	Concurrency int

	// Freeze stops the process whenever it waits for an invocation, as Lambda
	// does: its clock goes on, its timers and connections see nothing of it.
	// It has an effect where processes can be stopped by a signal.
	Freeze bool
}

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, 10*time.Second) }

// initTimeout is Lambda's, for the init phase.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
const initTimeout = 10 * time.Second

// maxResponse is what Lambda takes as the response to an invocation, in bytes.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxResponse = 6 << 20

// An Error is an invocation or an init that failed: what Lambda counts in the
// metric Errors, and answers itself in place of the function.
type Error struct {
	Type    string // as in Lambda's own answers: Runtime.ExitError, Sandbox.Timedout, …
	Message string
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// An Environment is one execution environment: a process that takes one
// invocation at a time.
type Environment struct {
	options Options
	cmd     *exec.Cmd
	server  *http.Server
	stdout  tools.Buffer
	stderr  tools.Buffer

	ready  chan struct{}    // closed once the process asks for its first invocation
	next   chan *invocation // to where the process waits for it
	exited chan struct{}    // closed once the process has

	invoking sync.Mutex // held while an invocation is under way

	mu      sync.Mutex
	current *invocation // that the process has got and not answered
	errors  []*Error
}

// An invocation is an event on its way through the function.
type invocation struct {
	id       string
	payload  []byte
	deadline time.Time     // set when the process gets it
	begun    chan struct{} // closed then
	done     chan struct{} // closed when response or err is set
	response []byte
	err      *Error
}

// NewEnvironment starts the program. It is to be closed.
func NewEnvironment(o Options) (*Environment, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(o.Binary)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	e := &Environment{
		options: o,
		cmd:     exec.Command(binary),
		ready:   make(chan struct{}),
		next:    make(chan *invocation),
		exited:  make(chan struct{}),
	}
	e.server = &http.Server{Handler: e.runtimeAPI()}
	e.cmd.Dir = filepath.Dir(binary)
	e.cmd.Env = append(environ(l.Addr().String(), e.cmd.Dir, o.timeout()), o.Env...)
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	dieWithParent(e.cmd)
	if err := e.cmd.Start(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go e.server.Serve(l)
	go func() {
		e.cmd.Wait() // ProcessState has the outcome
		close(e.exited)
	}()
	return e, nil
}

// environ returns the variables that Lambda sets for a runtime of the operating
// system alone.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func environ(runtimeAPI, dir string, timeout time.Duration) []string {
	return []string{
		"_HANDLER=bootstrap",
		"AWS_ACCESS_KEY_ID=ASIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_SESSION_TOKEN=example",
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_LAMBDA_FUNCTION_NAME=" + functionName, "AWS_LAMBDA_FUNCTION_VERSION=1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + functionName, "AWS_LAMBDA_LOG_STREAM_NAME=2025/09/10/[1]0123456789abcdef",
		"AWS_LAMBDA_RUNTIME_API=" + runtimeAPI,
		"LAMBDA_TASK_ROOT=" + dir, "LAMBDA_RUNTIME_DIR=" + dir,
		"LANG=en_US.UTF-8", "TZ=:UTC", "PATH=/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), // not Lambda's: without it nothing works on Windows
	}
}

const functionName = "plants"

// Invoke has the function answer an event. It waits for the end of the init,
// and for the invocations before it. Where the function fails, the error is an
// [*Error]; the process is gone if it ran out of time.
func (e *Environment) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	e.invoking.Lock()
	defer e.invoking.Unlock()
	if err := e.WaitReady(ctx); err != nil {
		return nil, err
	}
	inv := &invocation{id: newUUID(), payload: payload, begun: make(chan struct{}), done: make(chan struct{})}
	select {
	case e.next <- inv:
	case <-e.exited:
		return nil, e.exit()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	<-inv.begun
	timeout := time.NewTimer(time.Until(inv.deadline))
	defer timeout.Stop()
	select {
	case <-inv.done:
	case <-e.exited:
		select {
		case <-inv.done: // before it ended
		default:
			return nil, e.exit()
		}
	case <-timeout.C:
		e.kill()
		return nil, e.fail(&Error{"Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", inv.id, e.options.timeout().Seconds())})
	}
	if inv.err != nil {
		return nil, e.fail(inv.err)
	}
	return inv.response, nil
}

// WaitReady waits until the process asks for its first invocation. It returns
// an [*Error] if it doesn't in the time that Lambda allows, or ends.
func (e *Environment) WaitReady(ctx context.Context) error {
	timeout := time.NewTimer(initTimeout)
	defer timeout.Stop()
	select {
	case <-e.ready:
		return nil
	case <-e.exited:
		return e.exit()
	case <-timeout.C:
		e.kill()
		return e.fail(&Error{"Sandbox.Timedout", fmt.Sprintf("the init took more than %v", initTimeout)})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exit returns the error that the end of the process is to an invocation.
func (e *Environment) exit() error {
	return e.fail(&Error{"Runtime.ExitError", "Runtime exited: " + e.cmd.ProcessState.String()})
}

// fail records err.
func (e *Environment) fail(err *Error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errors = append(e.errors, err)
	return err
}

// Close ends the process, as Lambda does without extensions: at once.
func (e *Environment) Close() {
	e.kill()
	e.server.Close()
}

// kill ends the process and waits for that.
func (e *Environment) kill() {
	e.cmd.Process.Kill() // an error means that it has ended
	<-e.exited
}

// Exited is closed once the process has ended.
func (e *Environment) Exited() <-chan struct{} { return e.exited }

// State is the state of the process once it has ended: its exit code, its
// processor time, its memory.
func (e *Environment) State() *os.ProcessState {
	<-e.exited
	return e.cmd.ProcessState
}

// Stdout returns what the process has written to standard output so far.
func (e *Environment) Stdout() string { return e.stdout.String() }

// Stderr returns what the process has written to standard error so far.
func (e *Environment) Stderr() string { return e.stderr.String() }

// Errors returns the Lambda errors so far.
func (e *Environment) Errors() []*Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*Error(nil), e.errors...)
}
