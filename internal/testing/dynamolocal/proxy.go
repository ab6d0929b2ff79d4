package dynamolocal

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Proxy forwards requests to DynamoDB and records them. A test can make them
// meet a [Fault].
type Proxy struct {
	*httptest.Server // its URL is the endpoint for clients

	mu       sync.Mutex
	requests []Request
	faults   map[string][]Fault // by operation, for the next requests
	always   map[string]Fault   // by operation, for all others
}

// A Request is what a [Proxy] records of a request.
type Request struct {
	Operation, TableName, IndexName string
	ConsistentRead                  bool
	Limit                           int
}

// NewProxy starts a proxy for the given endpoint. It stops when the test ends.
func NewProxy(t testing.TB, endpoint string) *Proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{faults: map[string][]Fault{}, always: map[string]Fault{}}
	p.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:    Fault(p.respond),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(func() {
		p.CloseClientConnections() // ends hanging requests
		p.Close()
	})
	return p
}

// Fail makes the next requests of the operation ("PutItem") meet one fault each,
// in that order. A nil fault forwards a request.
func (p *Proxy) Fail(operation string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[operation] = append(p.faults[operation], faults...)
}

// Always makes every request of the operation meet the fault, after those of
// [Proxy.Fail]. Nil forwards them again.
func (p *Proxy) Always(operation string, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always[operation] = f
}

// Requests returns the requests so far.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Count returns the number of requests of the operation so far.
func (p *Proxy) Count(operation string) (n int) {
	for _, r := range p.Requests() {
		if r.Operation == operation {
			n++
		}
	}
	return n
}

// respond records a request and returns the response of DynamoDB or of a fault.
func (p *Proxy) respond(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if f := p.record(r, body); f != nil {
		return f(r)
	}
	return Forward(r)
}

// record records a request and returns the fault that it meets, or nil.
func (p *Proxy) record(r *http.Request, body []byte) Fault {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	request := Request{Operation: operation}
	_ = json.Unmarshal(body, &request)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, request)
	queue := p.faults[operation]
	if len(queue) == 0 {
		return p.always[operation]
	}
	p.faults[operation] = queue[1:]
	return queue[0]
}
