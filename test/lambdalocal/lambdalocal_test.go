package lambdalocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/test/tools"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// TestMain runs the tests, or the function if a test started this process as one.
func TestMain(m *testing.M) {
	switch os.Getenv("LAMBDATEST_INIT") {
	case "":
		os.Exit(m.Run())
	case "exit":
		fmt.Fprintln(os.Stderr, "no settings")
		os.Exit(3)
	}
	fmt.Println("init")
	lambda.Start(handler{})
}

type handler struct{}

// Invoke does what the event says.
func (handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	switch string(payload) {
	case "error":
		return nil, errors.New("as requested")
	case "exit":
		os.Exit(4)
	case "hang":
		select {}
	case "large":
		return []byte(`"` + strings.Repeat("x", maxPayload) + `"`), nil
	case "sleep":
		time.Sleep(100 * time.Millisecond)
	}
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	return json.Marshal(map[string]any{
		"event": string(payload), "pid": os.Getpid(), "id": lc.AwsRequestID, "arn": lc.InvokedFunctionArn,
		"left_ms": time.Until(deadline).Milliseconds(), "env": os.Environ(), "trace": os.Getenv("_X_AMZN_TRACE_ID"),
	})
}

// An answer is a response of handler.
type answer struct {
	Event, ID, ARN, Trace string
	PID                   int
	LeftMS                float64 `json:"left_ms"`
	Env                   []string
}

// options returns options that run this test binary as the function.
func options(t *testing.T, env ...string) Options {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Binary: binary, Env: append(env, "LAMBDATEST_INIT=good")}
}

func invoke(t *testing.T, f func(context.Context, []byte) ([]byte, error), event string) (a answer) {
	t.Helper()
	b, err := f(t.Context(), []byte(event))
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		t.Errorf("%s: %v", event, err)
	}
	return a
}

func newEnvironment(t *testing.T, o Options) *Environment {
	t.Helper()
	e, err := NewEnvironment(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// state waits until the process has exited and returns its exit state.
func state(e *Environment) *os.ProcessState {
	<-e.exited
	return e.cmd.ProcessState
}

func TestInvoke(t *testing.T) {
	t.Setenv("DEVELOPERS_VARIABLE", "x")
	e := newEnvironment(t, options(t, "AWS_REGION=local", "OWN=y"))
	first, second := invoke(t, e.Invoke, "one"), invoke(t, e.Invoke, "sleep")
	if first.Event != "one" || second.Event != "sleep" || first.PID != e.PID() || second.PID != e.PID() || first.ID == second.ID || first.Trace == second.Trace {
		t.Errorf("%+v\n%+v", first, second)
	}
	if init, last := e.Durations(); init <= 0 || last < 100*time.Millisecond {
		t.Errorf("init took %v, an invocation of 100 ms %v", init, last)
	}
	if first.ARN != "arn:aws:lambda:eu-central-1:123456789012:function:plants:live" || first.LeftMS <= 0 || first.LeftMS > 60_000 {
		t.Errorf("%+v", first)
	}
	for _, kv := range []string{"AWS_REGION=local", "OWN=y", "_HANDLER=bootstrap", "TZ=:UTC"} {
		if !slices.Contains(first.Env, kv) {
			t.Errorf("%s is missing in the environment %q", kv, first.Env)
		}
	}
	if text := strings.Join(first.Env, "\n"); strings.Contains(text, "DEVELOPERS_VARIABLE=") || strings.Contains(text, "HOME=") {
		t.Errorf("inherited variables in the environment\n%s", text)
	}
	e.Close() // after which the output is complete
	if len(e.Errors()) != 0 || e.Stdout() != "init\n" || state(e).ExitCode() == 0 {
		t.Errorf("errors %v, output %q, %v", e.Errors(), e.Stdout(), state(e))
	}
}

// A failed invocation is a Lambda error with its type. Some end the process.
func TestErrors(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]struct {
		kind string
		ends bool
	}{
		"error": {"errorString", false},
		"exit":  {"Runtime.ExitError", true},
		"hang":  {"Sandbox.Timedout", true},
		"large": {"Function.ResponseSizeTooLarge", true}, // aws-lambda-go exits on status 413
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			if event == "hang" {
				o.Timeout = time.Second
			}
			e := newEnvironment(t, o)
			_, err := e.Invoke(t.Context(), []byte(event))
			failed, ok := errors.AsType[*Error](err)
			if !ok || failed.Type != want.kind {
				t.Fatalf("error %v, want %s", err, want.kind)
			}
			if errs := e.Errors(); len(errs) != 1 || errs[0] != failed {
				t.Errorf("recorded errors %v", errs)
			}
			if want.ends {
				state(e) // waits for the exit
			}
			if _, err := e.Invoke(t.Context(), []byte("next")); (err != nil) != want.ends {
				t.Errorf("next invocation: error %v", err)
			}
		})
	}
}

func TestInitError(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Env = []string{"LAMBDATEST_INIT=exit"}
	e := newEnvironment(t, o)
	err := e.WaitReady(t.Context())
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Type != "Runtime.ExitError" {
		t.Errorf("error %v", err)
	}
	if state(e).ExitCode() != 3 || e.Stderr() != "no settings\n" || len(e.Errors()) != 1 {
		t.Errorf("%v, %q, %v", state(e), e.Stderr(), e.Errors())
	}
	if _, err := NewEnvironment(Options{Binary: "/nowhere/bootstrap"}); err == nil {
		t.Error("no error for a program that doesn't exist")
	}
}

// Concurrent invocations run in processes of their own, up to the limit. Later
// ones reuse the processes that are still running.
func TestFunction(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Concurrency = 3
	f := NewFunction(o)
	defer f.Close()
	pid := make(chan int, 12)
	for range 12 {
		go func() { pid <- invoke(t, f.Invoke, "sleep").PID }()
	}
	pids := map[int]bool{}
	for range 12 {
		pids[<-pid] = true
	}
	if len(pids) != 3 || len(f.Environments()) != 3 {
		t.Errorf("%d processes, want 3", len(pids))
	}
	for range 3 {
		if _, err := f.Invoke(t.Context(), []byte("exit")); err == nil {
			t.Error("no error")
		}
	}
	if a := invoke(t, f.Invoke, "after"); a.PID == 0 || pids[a.PID] {
		t.Errorf("%+v is not from a new process", a)
	}
	f.Close() // after which the output is complete
	if len(f.Errors()) != 3 || strings.Count(f.Stdout(), "init") != 4 || f.Stderr() != "" {
		t.Errorf("%v\n%s%s", f.Errors(), f.Stdout(), f.Stderr())
	}
}

// The process is stopped between invocations.
func TestFreeze(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	o := options(t)
	o.Freeze = true
	e := newEnvironment(t, o)
	for range 2 {
		invoke(t, e.Invoke, "one")
		tools.Await(t, func() error {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.PID()))
			if err == nil && !strings.Contains(string(stat), ") T ") {
				err = errors.New("the process is not stopped")
			}
			return err
		})
	}
}
