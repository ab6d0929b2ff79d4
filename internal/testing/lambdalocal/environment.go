package lambdalocal

import (
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"example.com/plantstore/internal/testing/harness"
)

// Options configure an [Environment].
type Options struct {
	// Binary is the absolute path of the program.
	Binary string

	// Env adds to the variables that Lambda sets, or overrides them. The program
	// inherits nothing from the environment of this process.
	Env []string

	// Timeout determines the deadline of each invocation. The default is a minute,
	// since busy machines need more than the 10 s of template.yaml.
	Timeout time.Duration

	// Freeze stops the process while it waits for an invocation, as Lambda does.
	// It has no effect on systems other than Linux.
	Freeze bool
}

// An Environment is an execution environment: one process that handles one
// invocation at a time.
type Environment struct {
	*harness.Process
	options Options
	server  *httptest.Server // the Runtime API

	idle    chan struct{} // full while the process waits for an event
	events  chan []byte   // to the waiting process
	results chan result   // from the process

	invoking sync.Mutex // held during an invocation
}

// A result is the response of the function, or its error.
type result struct {
	response []byte
	err      error
}

// NewEnvironment starts the program. The caller must call Close.
func NewEnvironment(o Options) (*Environment, error) {
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	e := &Environment{options: o, idle: make(chan struct{}, 1), events: make(chan []byte), results: make(chan result, 1)}
	e.server = httptest.NewUnstartedServer(e.runtimeAPI()) // it listens, but doesn't serve yet
	cmd := exec.Command(o.Binary)
	cmd.Dir = filepath.Dir(o.Binary)
	cmd.Env = append(environ(e.server.Listener.Addr().String(), cmd.Dir), o.Env...)
	var err error
	if e.Process, err = harness.Start(cmd); err != nil {
		e.server.Listener.Close()
		return nil, err
	}
	e.server.Start()
	return e, nil
}

// environ returns the variables that Lambda sets for an OS-only runtime.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func environ(runtimeAPI, dir string) []string {
	return []string{
		"_HANDLER=bootstrap",
		"AWS_ACCESS_KEY_ID=ASIAEXAMPLE", "AWS_SECRET_ACCESS_KEY=example", "AWS_SESSION_TOKEN=example",
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_LAMBDA_FUNCTION_NAME=plants", "AWS_LAMBDA_FUNCTION_VERSION=1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_RUNTIME_API=" + runtimeAPI,
		"LAMBDA_TASK_ROOT=" + dir, "LAMBDA_RUNTIME_DIR=" + dir,
		"LANG=en_US.UTF-8", "TZ=:UTC", "PATH=/usr/local/bin:/usr/bin/:/bin:/opt/bin",
	}
}

// Invoke sends the function an event and returns its response. It waits until
// the init phase and earlier invocations have ended. Unless ctx has ended, an
// error is a Lambda error. If there is no response after [harness.Patience], Invoke
// kills the process and returns an error.
func (e *Environment) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	e.invoking.Lock()
	defer e.invoking.Unlock()
	end := time.After(harness.Patience)
	select {
	case e.events <- payload:
	case <-e.Exited:
		return nil, e.exitError()
	case <-end:
		return nil, fmt.Errorf("the function accepts no event for %v", harness.Patience)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-e.results:
		return r.response, r.err
	case <-e.Exited:
		return nil, e.exitError()
	case <-end:
		e.Kill()
		return nil, fmt.Errorf("no response after %v", harness.Patience)
	}
}

// WaitReady waits until the process asks for an event, which it does first at the
// end of its init phase. It returns an error if the process exits, or after
// [harness.Patience].
func (e *Environment) WaitReady(ctx context.Context) error {
	select {
	case <-e.idle:
		e.idle <- struct{}{}
		return nil
	case <-e.Exited:
		return e.exitError()
	case <-time.After(harness.Patience):
		return fmt.Errorf("the init phase hasn't ended after %v", harness.Patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exitError returns the error of an invocation after the process has exited.
func (e *Environment) exitError() error {
	return fmt.Errorf("Runtime.ExitError: Runtime exited: %s", e.Cmd.ProcessState)
}

// Close kills the process, as Lambda does with functions without extensions.
// After that, the output is complete.
func (e *Environment) Close() {
	e.Kill()
	e.server.Close()
}
