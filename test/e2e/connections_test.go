package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
)

// Clients don't notice connections that DynamoDB closes, be it while the function is
// frozen or when it gets a request.
func TestLambdaClosedConnections(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	u, basil := f.user(), newPlant()
	proxy.Fail("PutItem", dynamolocal.Cut)
	u.create(t, basil)
	harness.Await(t, func() error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.Cmd.Process.Pid))
		if err == nil && !strings.Contains(string(stat), ") T ") {
			return fmt.Errorf("the function is not frozen: %s", stat)
		}
		return nil // without /proc too
	})
	proxy.CloseClientConnections()
	u.expectList(t, 200)
	proxy.Fail("Query", dynamolocal.Cut)
	u.expectList(t, 200)
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	if _, err := u.remove(t, basil.ID, 204); err != nil {
		t.Error(err)
	}
}
