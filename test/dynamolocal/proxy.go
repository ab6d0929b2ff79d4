package dynamolocal

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Proxy forwards requests to DynamoDB and records them. A test can make them
// meet a [Fault].
type Proxy struct {
	*httptest.Server // its URL is the endpoint for clients

	mu      sync.Mutex
	count   map[string]int      // by operation
	actions map[string][]string // by resource
	faults  map[string][]Fault  // by operation, for the next requests
	always  map[string]Fault    // by operation, for all others
}

// NewProxy starts a proxy for the given endpoint. It stops when the test ends.
func NewProxy(t testing.TB, endpoint string) *Proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{count: map[string]int{}, actions: map[string][]string{}, faults: map[string][]Fault{}, always: map[string]Fault{}}
	p.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     Fault(p.respond),
		FlushInterval: 10 * time.Millisecond, // sends the start of a response that stalls
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
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

// Count returns the number of requests of the operation so far.
func (p *Proxy) Count(operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count[operation]
}

// Actions returns the IAM actions that the requests so far need, sorted, by table
// or index ("TABLE/index/INDEX").
func (p *Proxy) Actions() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.actions)
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
	var in struct{ TableName, IndexName string }
	_ = json.Unmarshal(body, &in)
	resource, action := in.TableName, "dynamodb:"+operation
	if in.IndexName != "" {
		resource += "/index/" + in.IndexName
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[operation]++
	if list := p.actions[resource]; !slices.Contains(list, action) {
		p.actions[resource] = slices.Sorted(slices.Values(append(list, action)))
	}
	queue := p.faults[operation]
	if len(queue) == 0 {
		return p.always[operation]
	}
	p.faults[operation] = queue[1:]
	return queue[0]
}
