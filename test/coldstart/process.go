package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"
)

// patience bounds every wait for a function, in each of its phases.
const patience = 30 * time.Second

// A process is a function that runs, with a Runtime API of its own that does
// nothing but hand over events and take the time.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type process struct {
	cmd     *exec.Cmd
	server  *http.Server
	idle    chan time.Time // it asked for an event
	events  chan []byte
	answers chan answer
	exited  chan struct{}
	output  bytes.Buffer // of the process; to be read once it has exited
}

type answer struct {
	at     time.Time
	body   []byte
	failed bool // it is a Lambda error
}

// start runs a bootstrap and returns once it asks for its first event. init is
// the time that took.
func start(ctx context.Context, binary string, env []string) (p *process, init time.Duration, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	p = &process{
		cmd:     exec.CommandContext(ctx, binary),
		idle:    make(chan time.Time),
		events:  make(chan []byte),
		answers: make(chan answer),
		exited:  make(chan struct{}),
	}
	p.server = &http.Server{Handler: p.runtimeAPI()}
	go p.server.Serve(l)
	dir := filepath.Dir(binary)
	p.cmd.Dir = dir
	p.cmd.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+l.Addr().String(), "LAMBDA_TASK_ROOT="+dir)
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, 0, errors.Join(err, p.server.Close())
	}
	go func() {
		p.cmd.Wait() // whatever it returns, an exit is an error to who waits
		close(p.exited)
	}()
	asked, err := receive(p, p.idle)
	if err != nil {
		return nil, 0, errors.Join(err, p.stop())
	}
	return p, asked.Sub(began), nil
}

// invoke has the function answer an event. took is the time from when it got
// the event until the answer was here. It returns when the function asks for
// the next one.
func (p *process) invoke(event []byte) (body []byte, took time.Duration, err error) {
	began := time.Now()
	p.events <- event
	a, err := receive(p, p.answers)
	if err != nil {
		return nil, 0, err
	}
	if a.failed {
		return nil, 0, fmt.Errorf("a Lambda error: %s", a.body)
	}
	if _, err := receive(p, p.idle); err != nil {
		return nil, 0, err
	}
	return a.body, a.at.Sub(began), nil
}

func receive[T any](p *process, from <-chan T) (v T, err error) {
	select {
	case v := <-from:
		return v, nil
	case <-p.exited:
		return v, fmt.Errorf("it ended with %v:\n%s", p.cmd.ProcessState, &p.output)
	case <-time.After(patience):
		return v, fmt.Errorf("nothing came from it in %v", patience)
	}
}

// stop ends the process.
func (p *process) stop() error {
	p.cmd.Process.Kill() // an error means that it has ended
	<-p.exited
	return p.server.Close()
}

func (p *process) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	const base = "/2018-06-01/runtime/"
	mux.HandleFunc("GET "+base+"invocation/next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.idle <- time.Now():
		case <-r.Context().Done():
			return
		}
		select {
		case event := <-p.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(patience).UnixMilli()))
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:123456789012:function:plants")
			w.Write(event)
		case <-r.Context().Done():
		}
	})
	take := func(failed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			now := time.Now()
			w.WriteHeader(http.StatusAccepted)
			select {
			case p.answers <- answer{now, body, failed}:
			case <-r.Context().Done():
			}
		}
	}
	mux.HandleFunc("POST "+base+"invocation/{id}/response", take(false))
	mux.HandleFunc("POST "+base+"invocation/{id}/error", take(true))
	return mux
}
