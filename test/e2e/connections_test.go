package e2e

import (
	"testing"

	"example.com/plantstore/test/dynamolocal"
)

// Clients don't notice connections that DynamoDB closes, be it while the function is
// frozen or when it gets a request.
func TestLambdaClosedConnections(t *testing.T) {
	t.Parallel()
	f, proxy := startFaulty(t)
	u, basil := f.user(), newPlant()
	proxy.Fail("PutItem", dynamolocal.Cut)
	plants.postAll(t, u, basil)
	proxy.CloseClientConnections()
	u.expectList(t, 200)
	proxy.Fail("Query", dynamolocal.Cut)
	u.expectList(t, 200)
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	if _, err := plants.remove(t, u, basil.id(), 204); err != nil {
		t.Error(err)
	}
}
