package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
)

// Clients don't notice connections that DynamoDB closes, be it while the function is
// frozen or when it gets a request.
func TestLambdaClosedConnections(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	u, basil := f.user(t), plantstest.Example(7)
	proxy.Fail("PutItem", dynamolocal.Cut)
	u.Create(basil)
	harness.Await(t, func() error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.Cmd.Process.Pid))
		if err == nil && !strings.Contains(string(stat), ") T ") {
			return fmt.Errorf("the function is not frozen: %s", stat)
		}
		return nil // without /proc too
	})
	proxy.CloseClientConnections()
	u.Do("GET", "/plants").Gets(200, session.Anything)
	proxy.Fail("Query", dynamolocal.Cut)
	u.Do("GET", "/plants").Gets(200, session.Anything)
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	u.Do("DELETE", "/plants/7").Gets(204, "")
}
