package lambdalocal

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"syscall"
	"time"
)

// runtimeAPI returns the HTTP API that Lambda offers to the process of a
// function. https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (e *Environment) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", e.serveNext)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{result}", e.serveResult)
	return mux
}

// serveNext sends the process the next event as soon as there is one.
func (e *Environment) serveNext(w http.ResponseWriter, r *http.Request) {
	e.idle <- struct{}{}
	if e.options.Freeze && runtime.GOOS == "linux" {
		e.Cmd.Process.Signal(stop)
		defer e.Cmd.Process.Signal(cont)
	}
	select {
	case event := <-e.events:
		<-e.idle
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", newRequestID())
		h.Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(e.options.Timeout).UnixMilli()))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:plants:live")
		h.Set("Lambda-Runtime-Trace-Id", newTraceID()+";Sampled=0")
		w.Write(event)
	case <-r.Context().Done(): // the process has exited
	}
}

// The signals SIGSTOP and SIGCONT of Linux. Package syscall doesn't define them on
// Windows, where this package must compile.
const stop, cont = syscall.Signal(19), syscall.Signal(18)

// serveResult receives the response to the invocation, or its error.
func (e *Environment) serveResult(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process has exited, which Invoke notices
	}
	if r.PathValue("result") == "error" {
		err = fmt.Errorf("the function failed: %s", body)
	}
	w.WriteHeader(http.StatusAccepted)
	e.results <- result{body, err}
}

// newTraceID returns a trace id in X-Ray's format.
// https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-traceids
func newTraceID() string {
	now := time.Now()
	return fmt.Sprintf("Root=1-%08x-%024x", now.Unix(), now.UnixNano())
}
