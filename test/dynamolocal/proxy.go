package dynamolocal

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Proxy forwards requests to DynamoDB and records them. A test can make them
// meet a [Fault].
type Proxy struct {
	// URL is the endpoint for clients.
	URL string

	endpoint string
	server   *httptest.Server
	closing  chan struct{}

	mu     sync.Mutex
	calls  []call
	faults map[string][]Fault // by operation, for the next requests
	always map[string]Fault   // by operation, for all others
}

// A call is a recorded request.
type call struct{ operation, resource string }

// NewProxy starts a proxy for the given endpoint. It stops when the test ends.
func NewProxy(t testing.TB, endpoint string) *Proxy {
	p := &Proxy{
		endpoint: endpoint,
		closing:  make(chan struct{}),
		faults:   make(map[string][]Fault),
		always:   make(map[string]Fault),
	}
	p.server = httptest.NewServer(p)
	p.URL = p.server.URL
	t.Cleanup(func() {
		close(p.closing) // ends hanging requests
		p.server.Close()
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

// Count returns the number of requests of the operation so far.
func (p *Proxy) Count(operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.calls {
		if c.operation == operation {
			n++
		}
	}
	return n
}

// Actions returns the IAM actions that the requests so far need, sorted, by the
// kind of their resource: "table" or "index".
func (p *Proxy) Actions() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	actions := make(map[string][]string)
	for _, c := range p.calls {
		actions[c.resource] = append(actions[c.resource], "dynamodb:"+c.operation)
	}
	for resource, list := range actions {
		slices.Sort(list)
		actions[resource] = slices.Compact(list)
	}
	return actions
}

// CutConnections closes all connections from clients.
func (p *Proxy) CutConnections() {
	p.server.CloseClientConnections()
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	x := &Exchange{W: w, R: r, proxy: p, body: body}
	if f := p.record(x); f != nil {
		f(x)
		return
	}
	x.Forward().writeTo(w)
}

// record records the request and returns the fault that it meets, or nil.
func (p *Proxy) record(x *Exchange) Fault {
	c := call{resource: "table"}
	_, c.operation, _ = strings.Cut(x.R.Header.Get("X-Amz-Target"), ".")
	if bytes.Contains(x.body, []byte(`"IndexName":`)) {
		c.resource = "index"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
	queue := p.faults[c.operation]
	if len(queue) == 0 {
		return p.always[c.operation]
	}
	p.faults[c.operation] = queue[1:]
	return queue[0]
}

// An Exchange is a request that meets a [Fault].
type Exchange struct {
	W http.ResponseWriter
	R *http.Request // its body has been read

	proxy *Proxy
	body  []byte
}

// Forward forwards the request and returns the answer. Without an answer it
// cuts the connection to the client.
func (x *Exchange) Forward() Answer {
	// Without the request's context: the client may have gone.
	req, err := http.NewRequest(x.R.Method, x.proxy.endpoint+x.R.URL.Path, bytes.NewReader(x.body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header = x.R.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return Answer{resp.StatusCode, resp.Header, body}
}

// An Answer is an HTTP response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// writeTo sends the answer to a client.
func (a Answer) writeTo(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	w.Write(a.Body)
}
