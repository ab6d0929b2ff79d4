package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"

	cryptorand "crypto/rand"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
)

// failStorage checks the answers while all calls of DynamoDB fail: the status is
// one of the given ones, and the message tells nothing of the cause. Afterwards
// the service works again.
func failStorage(t *testing.T, c *client, token string, proxy *dynamolocal.Proxy, fault dynamolocal.Fault, want ...int) {
	t.Helper()
	operations := []string{"Query", "PutItem", "DeleteItem"}
	for _, operation := range operations {
		proxy.Always(operation, fault)
	}
	var group sync.WaitGroup
	for _, r := range []request{
		{"GET", "/plants", bearer(token), nil},
		{"POST", "/plants", bearer(token), []byte(`{"id": 1, "name": "Basil"}`)},
		{"DELETE", "/plants/1", bearer(token), nil},
	} {
		group.Go(func() {
			a, err := c.send(t, r)
			if err != nil || !slices.Contains(want, a.status) || strings.Contains(string(a.body), "Exception") {
				t.Errorf("want one of %d, got %v\n%s%s", want, err, r, a)
			}
		})
	}
	group.Wait()
	for _, operation := range operations {
		proxy.Always(operation, nil)
	}
	expect(t, c, token, "GET", 200, 0)
}

// Clients learn whether to retry while DynamoDB fails. TestLambdaLastingFaults
// covers more faults.
func TestStorageFaults(t *testing.T) {
	t.Parallel()
	proxy := dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
	p := start(t, program.Environ(dynamolocal.Environ(proxy.URL, "e2e-"+cryptorand.Text())...), t.TempDir())
	c, token := p.user(t)
	failStorage(t, c, token, proxy, dynamolocal.Hang, 503)
	failStorage(t, c, token, proxy, dynamolocal.Refuse(400, "AccessDeniedException"), 500)
}
