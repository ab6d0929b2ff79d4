package lambdalocal

import (
	"context"
	"slices"
	"sync"
)

// A Function is a Lambda function. Each concurrent invocation runs in an
// environment of its own, and later invocations reuse the environments.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
type Function struct {
	options Options
	slots   chan struct{} // full at the limit of concurrent invocations

	mu   sync.Mutex
	all  []*Environment
	idle []*Environment
}

// NewFunction returns a function without environments. The caller must call
// Close.
func NewFunction(o Options) *Function {
	return &Function{options: o, slots: make(chan struct{}, max(o.Concurrency, 1))}
}

// Invoke sends the function an event and returns its response. At the limit of
// concurrent invocations it waits, where Lambda would throttle. If the function
// fails, the error is an [*Error].
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
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.idle = append(f.idle, e)
	}()
	return e.Invoke(ctx, payload)
}

// environment returns the idle environment that was used last, or a new one.
func (f *Function) environment() (*Environment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := len(f.idle); n > 0; n-- {
		e := f.idle[n-1]
		f.idle = f.idle[:n-1]
		select {
		case <-e.exited:
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

// Environments returns all environments so far, including those that have
// exited.
func (f *Function) Environments() []*Environment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

// Close closes all environments.
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
func (f *Function) Stdout() string { return f.join((*Environment).Stdout) }

// Stderr returns what all environments have written to standard error so far.
func (f *Function) Stderr() string { return f.join((*Environment).Stderr) }

func (f *Function) join(output func(*Environment) string) (all string) {
	for _, e := range f.Environments() {
		all += output(e)
	}
	return all
}
