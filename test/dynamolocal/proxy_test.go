package dynamolocal

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Faults come in the order they were asked for, each to its own operation.
func TestProxyFaults(t *testing.T) {
	upstream := newEcho(t)
	p := NewProxy(t, upstream)
	p.Fail("PutItem", Throttle, nil, Unavailable)
	p.Always("DeleteItem", Cut)

	call := func(operation string) int {
		req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	var got []int
	calls := []string{"PutItem", "Query", "PutItem", "DeleteItem", "PutItem", "PutItem", "DeleteItem"}
	for _, operation := range calls {
		got = append(got, call(operation))
	}
	if want := []int{400, 299, 299, 0, 503, 299, 0}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
	if !slices.Equal(p.Calls(), calls) {
		t.Errorf("recorded %v, want %v", p.Calls(), calls)
	}
	p.Always("DeleteItem", nil)
	if got := call("DeleteItem"); got != 299 {
		t.Errorf("status %d after the fault, want 299", got)
	}
}

// newEcho returns the address of a server whose answer has the status 299.
func newEcho(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(299) })}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "http://" + l.Addr().String()
}
