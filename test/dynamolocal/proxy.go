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

// A Proxy passes requests on to DynamoDB and remembers them. Requests that a
// test has named meet a [Fault].
type Proxy struct {
	// URL is what a client takes as its endpoint.
	URL string

	endpoint string
	server   *httptest.Server
	closing  chan struct{}

	mu     sync.Mutex
	calls  []string
	index  []bool             // for each call, whether it uses an index
	faults map[string][]Fault // by operation: those of the next requests
	always map[string]Fault   // by operation: that of all others
}

// NewProxy starts a proxy in front of the given endpoint. It ends with the test.
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
		close(p.closing) // lets hanging requests go
		p.server.Close()
	})
	return p
}

// Fail makes the next requests of the operation ("PutItem") meet one of the
// faults each, in that order. A nil fault lets a request through.
func (p *Proxy) Fail(operation string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[operation] = append(p.faults[operation], faults...)
}

// Always makes every request of the operation meet the fault, once those of
// [Proxy.Fail] are used up. Nil lets them through again.
func (p *Proxy) Always(operation string, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always[operation] = f
}

// Calls returns the operations of all requests so far, in order.
func (p *Proxy) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Actions returns the IAM actions that the requests so far need, sorted, by the
// kind of resource that they use: "table" or "index".
func (p *Proxy) Actions() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	actions := map[string][]string{}
	for i, operation := range p.calls {
		resource := "table"
		if p.index[i] {
			resource = "index"
		}
		if action := "dynamodb:" + operation; !slices.Contains(actions[resource], action) {
			actions[resource] = append(actions[resource], action)
		}
	}
	for _, list := range actions {
		slices.Sort(list)
	}
	return actions
}

// Count returns the number of requests of the operation so far.
func (p *Proxy) Count(operation string) int {
	n := 0
	for _, call := range p.Calls() {
		if call == operation {
			n++
		}
	}
	return n
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
	if f := p.next(r, body); f != nil {
		f(x)
		return
	}
	x.Forward().writeTo(w)
}

// next records the request and returns the fault that it meets, or nil.
func (p *Proxy) next(r *http.Request, body []byte) Fault {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, operation)
	p.index = append(p.index, bytes.Contains(body, []byte(`"IndexName":`)))
	queue := p.faults[operation]
	if len(queue) == 0 {
		return p.always[operation]
	}
	p.faults[operation] = queue[1:]
	return queue[0]
}

// An Exchange is one request that meets a [Fault].
type Exchange struct {
	W http.ResponseWriter
	R *http.Request // its body has been read

	proxy *Proxy
	body  []byte
}

// An Answer is what DynamoDB answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Forward lets the request through and returns the answer. If there is none,
// the connection to the client is cut.
func (x *Exchange) Forward() Answer {
	// The context is left out: once the client has gone the request still
	// gets through.
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

func (a Answer) writeTo(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	w.Write(a.Body)
}
