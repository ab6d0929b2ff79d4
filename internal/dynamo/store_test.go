package dynamo_test

import (
	"slices"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/test/dynamolocal"
)

// The store keeps the contract of [plants.Store], and [dynamo.Actions] lists
// exactly the actions that it takes.
func TestStore(t *testing.T) {
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), table)

	plantstest.TestStore(t, func(*testing.T) plants.Store { return store })
	before := proxy.Count("Query")
	if err := store.CheckIndex(t.Context()); err != nil || proxy.Count("Query") == before {
		t.Errorf("Warm: %v, and %d queries", err, proxy.Count("Query")-before)
	}

	used := proxy.Actions()
	for _, resource := range []string{"table", "index"} {
		for _, action := range used[resource] {
			if !slices.Contains(dynamo.Actions[resource], action) {
				t.Errorf("the store uses %s on the %s: add it to internal/dynamo/store.go and to FunctionRole in template.yaml",
					action, resource)
			}
		}
		for _, action := range dynamo.Actions[resource] {
			if !slices.Contains(used[resource], action) {
				t.Errorf("internal/dynamo/store.go lists %s on the %s, but no test makes the store use it: "+
					"remove it there and from FunctionRole in template.yaml, or add a test to plantstest", action, resource)
			}
		}
	}
}
