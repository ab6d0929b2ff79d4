package dynamo_test

import (
	"slices"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/test/dynamolocal"
)

// The store keeps the contract, and asks DynamoDB for nothing but what it may.
func TestStore(t *testing.T) {
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), table)

	plantstest.TestStore(t, func(*testing.T) plants.Store { return store })

	calls := proxy.Calls()
	slices.Sort(calls)
	if got, want := slices.Compact(calls), []string{"DeleteItem", "PutItem", "Query"}; !slices.Equal(got, want) {
		t.Errorf("the store called %v, want %v alone", got, want)
	}
}
