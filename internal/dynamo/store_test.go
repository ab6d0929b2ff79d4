package dynamo_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/test/dynamolocal"
)

// The store keeps the contract of [plants.Store], and uses exactly the actions of
// [dynamo.Actions]. So do the checks, which would else accept a function that
// lacks a permission.
func TestStore(t *testing.T) {
	direct, table := dynamolocal.Table(t)
	newStore := func() (*dynamo.Store, *dynamolocal.Proxy) {
		proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
		return dynamo.New(dynamolocal.Client(t, proxy.URL), table), proxy
	}
	store, proxy := newStore()
	plantstest.TestStore(t, func(*testing.T) plants.Store { return store })
	wantActions(t, proxy, table, "the store uses", "correct it, and TablePolicy in template.yaml, or add a test to plantstest")

	store, proxy = newStore()
	if err := store.CheckTable(t.Context()); err != nil {
		t.Error(err)
	}
	if err := store.CheckIndex(t.Context()); err != nil {
		t.Error(err)
	}
	wantActions(t, proxy, table, "CheckTable and CheckIndex use", "make the checks in internal/dynamo/check.go try each action, and no other")
}

// wantActions requires the requests so far to need exactly the actions of
// [dynamo.Actions] on the table.
func wantActions(t *testing.T, proxy *dynamolocal.Proxy, table, who, advice string) {
	t.Helper()
	want := map[string][]string{}
	for resource, actions := range dynamo.Actions {
		if rest, ok := strings.CutPrefix(resource, "PlantTable"); ok {
			want[table+rest] = actions
		}
	}
	if got := proxy.Actions(); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%s %v, but Actions in internal/dynamo/store.go has %v: %s", who, got, want, advice)
	}
}

// A page says where the list goes on even if DynamoDB found nothing in it.
func TestListEmptyPage(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	proxy.Fail("Query", dynamolocal.Reply(200, `{"Count":0,"Items":[],"LastEvaluatedKey":{"owner":{"S":"alice"},"id":{"N":"-7"}}}`))
	page, err := store.List(t.Context(), "alice", plants.Query{Limit: 10})
	if err != nil || len(page.Plants) != 0 || page.Next == nil || *page.Next != -7 {
		t.Errorf("got %+v, %v, want no plants, and Next -7", page, err)
	}
}

// DynamoDB starts a page after its cursor, wherever that is: plants that it only
// skips would count towards the limit, and cost as much as those of the page.
func TestListSkipsNothing(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t, 0)
	for id := range int64(20) {
		put(t, store, "alice", plants.Plant{ID: id, Name: "fern"})
	}
	page, err := store.List(t.Context(), "alice", plants.Query{After: new(int64(11)), Limit: 5})
	if err != nil || len(page.Plants) != 5 || page.Plants[0].ID != 12 || proxy.Count("Query") != 1 {
		t.Errorf("got %+v by %d queries, %v, want the plants 12 to 16 by one", page, proxy.Count("Query"), err)
	}
}
