package lambdalocal

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// runtimeAPI is what Lambda offers to the process of a function.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (e *Environment) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	const base = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+base+"/invocation/next", e.serveNext)
	mux.HandleFunc("POST "+base+"/invocation/{id}/response", e.serveResponse)
	mux.HandleFunc("POST "+base+"/invocation/{id}/error", e.serveError)
	mux.HandleFunc("POST "+base+"/init/error", e.serveInitError)
	return mux
}

// serveNext gives the process its next invocation, and lets it wait until there
// is one.
func (e *Environment) serveNext(w http.ResponseWriter, r *http.Request) {
	select {
	case <-e.ready:
	default:
		close(e.ready)
	}
	var inv *invocation
	select {
	case inv = <-e.next:
	default:
		if e.options.Freeze {
			freeze(e.cmd.Process)
			defer thaw(e.cmd.Process) // in case nothing comes
		}
		select {
		case inv = <-e.next:
		case <-r.Context().Done():
			return
		}
		if e.options.Freeze {
			thaw(e.cmd.Process)
		}
	}
	e.mu.Lock()
	e.current = inv
	e.mu.Unlock()
	inv.deadline = time.Now().Add(e.options.timeout())
	close(inv.begun)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(inv.deadline.UnixMilli()))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:"+functionName+":live")
	h.Set("Lambda-Runtime-Trace-Id", newTraceID()+";Sampled=0")
	w.Write(inv.payload)
}

// serveResponse takes the function's response.
func (e *Environment) serveResponse(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	inv := e.take(r.PathValue("id"))
	switch {
	case err != nil:
		return // the process has ended in the middle of it, which Invoke sees
	case inv == nil:
		reply(w, http.StatusBadRequest, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`)
		return
	case len(body) > maxResponse:
		inv.err = &Error{"Function.ResponseSizeTooLarge",
			fmt.Sprintf("Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes).", len(body), maxResponse)}
		reply(w, http.StatusRequestEntityTooLarge, `{"errorMessage":"Exceeded maximum allowed payload size","errorType":"RequestEntityTooLarge"}`)
	default:
		inv.response = body
		reply(w, http.StatusAccepted, `{"status":"OK"}`)
	}
	close(inv.done)
}

// serveError takes the function's word that the invocation failed.
func (e *Environment) serveError(w http.ResponseWriter, r *http.Request) {
	failed := readError(r)
	inv := e.take(r.PathValue("id"))
	if inv == nil {
		reply(w, http.StatusBadRequest, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`)
		return
	}
	inv.err = failed
	reply(w, http.StatusAccepted, `{"status":"OK"}`)
	close(inv.done)
}

// serveInitError takes the function's word that its init failed.
func (e *Environment) serveInitError(w http.ResponseWriter, r *http.Request) {
	e.fail(readError(r))
	reply(w, http.StatusAccepted, `{"status":"OK"}`)
}

func readError(r *http.Request) *Error {
	var body struct{ ErrorType, ErrorMessage string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		body.ErrorMessage = "an error that can't be read: " + err.Error()
	}
	return &Error{body.ErrorType, body.ErrorMessage}
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// take returns the invocation that the process has got, if that is its id. Each
// is answered once.
func (e *Environment) take(id string) *invocation {
	e.mu.Lock()
	defer e.mu.Unlock()
	inv := e.current
	if inv == nil || inv.id != id {
		return nil
	}
	e.current = nil
	return inv
}

// newUUID returns a version 4 UUID, which Lambda's request ids are.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newTraceID returns a trace id as X-Ray has it.
// https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-traceids
func newTraceID() string {
	var b [12]byte
	rand.Read(b[:])
	return fmt.Sprintf("Root=1-%08x-%x", time.Now().Unix(), b)
}
