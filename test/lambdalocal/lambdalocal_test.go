package lambdalocal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// TestMain is, where a test has started this very program as a function, that
// function.
func TestMain(m *testing.M) {
	switch os.Getenv("LAMBDATEST_INIT") {
	case "":
		os.Exit(m.Run())
	case "exit":
		fmt.Fprintln(os.Stderr, "no settings")
		os.Exit(3)
	case "error":
		body := strings.NewReader(`{"errorType":"Settings","errorMessage":"none"}`)
		http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error", "application/json", body)
		os.Exit(1)
	}
	fmt.Println("init")
	lambda.Start(handler{})
}

type handler struct{}

// Invoke does what the event says.
func (handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	switch string(payload) {
	case "error":
		return nil, errors.New("as asked")
	case "panic":
		panic("as asked")
	case "exit":
		os.Exit(4)
	case "hang":
		time.Sleep(time.Minute)
	case "large":
		return []byte(`"` + strings.Repeat("x", maxResponse) + `"`), nil
	case "sleep":
		time.Sleep(100 * time.Millisecond)
	case "background":
		go func() {
			for range 100 {
				fmt.Println("tick")
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	return json.Marshal(map[string]any{
		"event": string(payload), "pid": os.Getpid(), "id": lc.AwsRequestID, "arn": lc.InvokedFunctionArn,
		"left_ms": time.Until(deadline).Milliseconds(), "env": os.Environ(), "trace": os.Getenv("_X_AMZN_TRACE_ID"),
	})
}

// answer is what the handler returns.
type answer struct {
	Event, ID, ARN, Trace string
	PID                   int
	LeftMS                float64 `json:"left_ms"`
	Env                   []string
}

func options(t *testing.T, env ...string) Options {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Binary: binary, Env: append(env, "LAMBDATEST_INIT=good"), Timeout: 5 * time.Second}
}

type invoker interface {
	Invoke(context.Context, []byte) ([]byte, error)
}

func invoke(t *testing.T, f invoker, event string) answer {
	t.Helper()
	b, err := f.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Errorf("%s: %v", event, err)
		return answer{}
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
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

// A function gets its events one after the other, with what Lambda says of them.
func TestInvoke(t *testing.T) {
	t.Setenv("OF_THE_DEVELOPER", "x")
	e := newEnvironment(t, options(t, "AWS_REGION=local", "OWN=y"))
	if err := e.WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
	first, second := invoke(t, e, "one"), invoke(t, e, "two")
	if first.Event != "one" || second.Event != "two" || first.PID != second.PID || first.ID == second.ID || first.Trace == second.Trace {
		t.Errorf("%+v\n%+v", first, second)
	}
	if first.ARN != "arn:aws:lambda:eu-central-1:123456789012:function:plants:live" || first.LeftMS < 3000 || first.LeftMS > 5000 {
		t.Errorf("%+v", first)
	}
	env := map[string]string{}
	for _, kv := range first.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	for name, want := range map[string]string{"AWS_REGION": "local", "OWN": "y", "_HANDLER": "bootstrap", "TZ": ":UTC", "OF_THE_DEVELOPER": "", "HOME": ""} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	e.Close() // then all output has come
	if errs := e.Errors(); len(errs) != 0 || e.Stdout() != "init\n" || e.State().ExitCode() == 0 {
		t.Errorf("%v, %q, %v", errs, e.Stdout(), e.State())
	}
}

// What fails is a Lambda error with its type. After some the process lives on.
func TestErrors(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]struct {
		kind string
		ends bool
	}{
		"error": {"errorString", false},
		"panic": {"string", true},
		"exit":  {"Runtime.ExitError", true},
		"hang":  {"Sandbox.Timedout", true},
		"large": {"Function.ResponseSizeTooLarge", true}, // aws-lambda-go takes the refusal for a fault
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			o.Timeout = time.Second
			e := newEnvironment(t, o)
			_, err := e.Invoke(t.Context(), []byte(event))
			failed, ok := errors.AsType[*Error](err)
			if !ok || failed.Type != want.kind {
				t.Errorf("the error is %v, want %s", err, want.kind)
			}
			if errs := e.Errors(); len(errs) != 1 || errs[0] != failed {
				t.Errorf("recorded is %v", errs)
			}
			if want.ends {
				<-e.Exited()
				if _, err := e.Invoke(t.Context(), []byte("next")); err == nil {
					t.Error("it answers after its end")
				}
			} else if a := invoke(t, e, "next"); a.Event != "next" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// An init that fails is told, with the exit code and what was said of it.
func TestInitErrors(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		code   int
		stderr string
		errors []string
	}{
		"exit":  {3, "no settings\n", []string{"Runtime.ExitError"}},
		"error": {1, "", []string{"Settings", "Runtime.ExitError"}},
	} {
		o := options(t)
		o.Env = []string{"LAMBDATEST_INIT=" + mode}
		e := newEnvironment(t, o)
		if err := e.WaitReady(t.Context()); err == nil {
			t.Errorf("%s: no error", mode)
		}
		var kinds []string
		for _, err := range e.Errors() {
			kinds = append(kinds, err.Type)
		}
		if e.State().ExitCode() != want.code || e.Stderr() != want.stderr || strings.Join(kinds, " ") != strings.Join(want.errors, " ") {
			t.Errorf("%s: %d, %q, %q", mode, e.State().ExitCode(), e.Stderr(), kinds)
		}
	}
	if _, err := NewEnvironment(Options{Binary: "/nowhere/bootstrap"}); err == nil {
		t.Error("a program that isn't there was started")
	}
}

// Each invocation at one time has a process of its own, up to the limit. They
// are used again, but for those that have ended.
func TestFunction(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Concurrency = 3
	f := NewFunction(o)
	defer f.Close()
	done := make(chan int, 12)
	for range 12 {
		go func() { done <- invoke(t, f, "sleep").PID }()
	}
	pids := map[int]bool{}
	for range 12 {
		pids[<-done] = true
	}
	if len(pids) != 3 || len(f.Environments()) != 3 {
		t.Errorf("%d processes, want 3", len(pids))
	}
	for range 3 {
		if _, err := f.Invoke(t.Context(), []byte("exit")); err == nil {
			t.Error("no error")
		}
	}
	if a := invoke(t, f, "after"); a.PID == 0 || pids[a.PID] {
		t.Errorf("%+v is none of a new process", a)
	}
	f.Close() // then all output has come
	if len(f.Errors()) != 3 || strings.Count(f.Stdout(), "init") != 4 || f.Stderr() != "" {
		t.Errorf("%v\n%s%s", f.Errors(), f.Stdout(), f.Stderr())
	}
}
