package lambdalocal

import (
	"context"
	"strings"
	"sync"
)

// A Function is a Lambda function: each of the invocations at one time has an
// environment of its own, and environments are used again.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
type Function struct {
	options Options
	slots   chan struct{} // one for each invocation under way

	mu   sync.Mutex
	all  []*Environment
	idle []*Environment
}

// NewFunction returns the function, of which nothing runs yet. It is to be
// closed.
func NewFunction(o Options) *Function {
	return &Function{options: o, slots: make(chan struct{}, max(o.Concurrency, 1))}
}

// Invoke has the function answer an event. Beyond the function's concurrency it
// waits, where Lambda would throttle. An [*Error] is the function's.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-f.slots }()
	e, err := f.environment()
	if err != nil {
		return nil, err
	}
	defer f.putBack(e)
	return e.Invoke(ctx, payload)
}

// environment returns one that is idle, the last used first, or a new one.
func (f *Function) environment() (*Environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := len(f.idle); n > 0; n-- {
		e := f.idle[n-1]
		f.idle = f.idle[:n-1]
		select {
		case <-e.Exited():
		default:
			return e, nil
		}
	}
	e, err := NewEnvironment(f.options)
	if err == nil {
		f.all = append(f.all, e)
	}
	return e, err
}

func (f *Function) putBack(e *Environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, e)
}

// Environments returns all environments so far, also those that have ended.
func (f *Function) Environments() []*Environment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*Environment(nil), f.all...)
}

// Close ends all environments.
func (f *Function) Close() {
	for _, e := range f.Environments() {
		e.Close()
	}
}

// Errors returns the Lambda errors of all environments so far.
func (f *Function) Errors() (all []*Error) {
	for _, e := range f.Environments() {
		all = append(all, e.Errors()...)
	}
	return all
}

// Stdout returns what all environments have written to standard output so far.
func (f *Function) Stdout() string { return f.output((*Environment).Stdout) }

// Stderr returns what all environments have written to standard error so far.
func (f *Function) Stderr() string { return f.output((*Environment).Stderr) }

func (f *Function) output(of func(*Environment) string) string {
	var b strings.Builder
	for _, e := range f.Environments() {
		b.WriteString(of(e))
	}
	return b.String()
}
