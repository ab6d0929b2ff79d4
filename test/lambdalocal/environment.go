package lambdalocal

import (
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/plantstore/test/tools"
)

// Options configure an [Environment] or a [Function].
type Options struct {
	// Binary is the absolute path of the program.
	Binary string

	// Emulator is the command that runs Binary if it is for another processor.
	Emulator string

	// Env adds to the variables that Lambda sets, or overrides them. The program
	// inherits nothing from the environment of this process.
	Env []string

	// Timeout is the time that each invocation is told it has. The default is a
	// minute, since busy machines need more than the 10 s of template.yaml. For the
	// same reason, the process is killed only after twice that time.
	Timeout time.Duration

	// Concurrency limits the environments of a [Function] that run at the same
	// time. The default is 1.
	Concurrency int

	// Freeze stops the process while it waits for an invocation, as Lambda does.
	// It has no effect on systems other than Linux.
	Freeze bool

	// CORS configures the HTTP API of [Start], unless it is nil.
	CORS *CORS
}

// maxPayload is Lambda's limit for an event and for a response, in bytes.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxPayload = 6 << 20

// An Error is a failed invocation or init. Lambda counts it in the metric Errors
// and returns an error of its own to the caller.
type Error struct {
	Type    string `json:"errorType"` // Lambda's, such as Runtime.ExitError, or the function's own
	Message string `json:"errorMessage"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// An Environment is an execution environment: one process that handles one
// invocation at a time.
type Environment struct {
	options        Options
	cmd            *exec.Cmd
	server         *httptest.Server // the Runtime API
	stdout, stderr tools.Buffer
	started        time.Time

	idle   chan struct{}    // full while the process waits for an invocation
	next   chan *invocation // to the waiting process
	exited chan struct{}    // closed when the process has exited

	invoking sync.Mutex // held during an invocation

	mu      sync.Mutex
	current *invocation // received by the process and not yet answered
	errors  []*Error
	init    time.Duration // 0 until the end of the init phase
	last    time.Duration
}

// An invocation is an event on its way through the function.
type invocation struct {
	id       string
	payload  []byte
	start    time.Time
	done     chan struct{} // closed when response or err is set
	response []byte
	err      *Error
}

// NewEnvironment starts the program. The caller must call Close.
func NewEnvironment(o Options) (*Environment, error) {
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	e := &Environment{
		options: o,
		cmd:     exec.Command(o.Binary),
		idle:    make(chan struct{}, 1),
		next:    make(chan *invocation),
		exited:  make(chan struct{}),
	}
	if o.Emulator != "" {
		e.cmd = exec.Command(o.Emulator, o.Binary)
	}
	e.server = httptest.NewUnstartedServer(e.runtimeAPI()) // it listens, but doesn't serve yet
	e.cmd.Dir = filepath.Dir(o.Binary)
	e.cmd.Env = append(environ(e.server.Listener.Addr().String(), e.cmd.Dir), o.Env...)
	e.cmd.Stdout, e.cmd.Stderr = &e.stdout, &e.stderr
	dieWithParent(e.cmd)
	e.started = time.Now()
	if err := e.cmd.Start(); err != nil {
		e.server.Listener.Close()
		return nil, err
	}
	e.server.Start()
	go func() {
		e.cmd.Wait() // the result is in ProcessState
		close(e.exited)
	}()
	return e, nil
}

// environ returns the variables that Lambda sets for an OS-only runtime.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func environ(runtimeAPI, dir string) []string {
	return []string{
		"_HANDLER=bootstrap",
		"AWS_ACCESS_KEY_ID=ASIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_SESSION_TOKEN=example",
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_LAMBDA_FUNCTION_NAME=" + functionName, "AWS_LAMBDA_FUNCTION_VERSION=1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_RUNTIME_API=" + runtimeAPI,
		"LAMBDA_TASK_ROOT=" + dir, "LAMBDA_RUNTIME_DIR=" + dir,
		"LANG=en_US.UTF-8", "TZ=:UTC", "PATH=/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), // not set by Lambda; Windows needs it
	}
}

const functionName = "plants"

// Invoke sends the function an event and returns its response. It waits until
// the init phase and earlier invocations have ended. If the function fails, the
// error is an [*Error]; a function that times out is killed.
func (e *Environment) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	e.invoking.Lock()
	defer e.invoking.Unlock()
	if err := e.WaitReady(ctx); err != nil {
		return nil, err
	}
	inv := &invocation{id: newRequestID(), payload: payload, start: time.Now(), done: make(chan struct{})}
	select {
	case e.next <- inv:
	case <-e.exited:
		return nil, e.exitError()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-inv.done:
	case <-e.exited:
		select {
		case <-inv.done: // before the exit
		default:
			return nil, e.exitError()
		}
	case <-time.After(2 * e.options.Timeout):
		e.kill()
		return nil, e.record(&Error{"Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", inv.id, e.options.Timeout.Seconds())})
	}
	if inv.err != nil {
		return nil, e.record(inv.err)
	}
	return inv.response, nil
}

// WaitReady waits until the process asks for an invocation, for the first time at
// the end of its init phase. It returns an [*Error] if the process exits.
func (e *Environment) WaitReady(ctx context.Context) error {
	select {
	case <-e.idle:
		e.idle <- struct{}{}
		return nil
	case <-e.exited:
		return e.exitError()
	case <-time.After(tools.Patience): // Lambda allows 10 s, less than some machines need
		e.kill()
		return e.record(&Error{"Sandbox.Timedout", "the process does not ask for an invocation"})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exitError returns the error of an invocation after the process has exited.
func (e *Environment) exitError() error {
	return e.record(&Error{"Runtime.ExitError", "Runtime exited: " + e.cmd.ProcessState.String()})
}

// record adds err to the errors and returns it.
func (e *Environment) record(err *Error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errors = append(e.errors, err)
	return err
}

// Close kills the process, as Lambda does with functions that have no
// extensions.
func (e *Environment) Close() {
	e.kill()
	e.server.Close()
}

// kill kills the process and waits until it has exited.
func (e *Environment) kill() {
	e.cmd.Process.Kill() // fails only if the process has exited
	<-e.exited
}

// PID returns the id of the process.
func (e *Environment) PID() int { return e.cmd.Process.Pid }

// Durations returns what Lambda reports as Init Duration, from the start of the
// process until it asked for its first invocation, and as Duration of the last
// invocation, from sending the event until the response was complete.
func (e *Environment) Durations() (init, last time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.init, e.last
}

// Stdout returns what the process has written to standard output so far.
func (e *Environment) Stdout() string { return e.stdout.String() }

// Stderr returns what the process has written to standard error so far.
func (e *Environment) Stderr() string { return e.stderr.String() }

// Errors returns the Lambda errors so far.
func (e *Environment) Errors() []*Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.errors)
}
