package lambdalocal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// runtimeAPI returns the HTTP API that Lambda offers to the process of a
// function. https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (e *Environment) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	const base = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+base+"/invocation/next", e.serveNext)
	mux.HandleFunc("POST "+base+"/invocation/{id}/{result}", e.serveResult)
	return mux
}

// serveNext sends the process its next invocation as soon as there is one.
func (e *Environment) serveNext(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	if e.init == 0 {
		e.init = time.Since(e.started)
	}
	e.mu.Unlock()
	e.idle <- struct{}{}
	if e.options.Freeze {
		freeze(e.cmd.Process)
		defer thaw(e.cmd.Process)
	}
	var inv *invocation
	select {
	case inv = <-e.next:
	case <-r.Context().Done():
	}
	<-e.idle
	if inv == nil {
		return
	}
	e.mu.Lock()
	e.current = inv
	e.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(inv.start.Add(e.options.Timeout).UnixMilli()))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:"+functionName+":live")
	h.Set("Lambda-Runtime-Trace-Id", newTraceID()+";Sampled=0")
	w.Write(inv.payload)
}

// serveResult receives the response to an invocation, or its error.
func (e *Environment) serveResult(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process has exited, which Invoke notices
	}
	inv := e.take(r.PathValue("id"))
	if inv == nil {
		http.Error(w, "invalid request id", http.StatusBadRequest)
		return
	}
	status := http.StatusAccepted
	switch {
	case r.PathValue("result") == "error":
		inv.err = &Error{Message: string(body)} // in case it is malformed
		json.Unmarshal(body, inv.err)
	case len(body) > maxPayload:
		inv.err = &Error{"Function.ResponseSizeTooLarge",
			fmt.Sprintf("Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes).", len(body), maxPayload)}
		status = http.StatusRequestEntityTooLarge
	default:
		inv.response = body
	}
	w.WriteHeader(status)
	close(inv.done)
}

// take returns the current invocation if it has the given id, and nil otherwise.
// An invocation can be answered only once.
func (e *Environment) take(id string) *invocation {
	e.mu.Lock()
	defer e.mu.Unlock()
	inv := e.current
	if inv == nil || inv.id != id {
		return nil
	}
	e.current, e.last = nil, time.Since(inv.start)
	return inv
}

// newTraceID returns a trace id in X-Ray's format.
// https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-traceids
func newTraceID() string {
	now := time.Now()
	return fmt.Sprintf("Root=1-%08x-%024x", now.Unix(), now.UnixNano())
}
