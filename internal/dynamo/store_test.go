package dynamo_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
)

// The store keeps the contract of [plants.Store], and uses exactly the actions of
// [dynamo.TableActions] and [dynamo.IndexActions].
func TestStore(t *testing.T) {
	t.Parallel()
	direct, table := dynamolocal.Table(t)
	used := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, used.URL), table)
	plantstest.TestStore(t, store)
	for _, r := range used.Requests() {
		if r.Operation == "GetItem" && !r.ConsistentRead {
			t.Error("a GetItem isn't consistent, so a Delete may miss a new plant") // on AWS; DynamoDB Local has no lag
			break
		}
	}
	t.Run("actions", func(t *testing.T) { // not with -run TestStore/fields, which sends only some requests
		want := map[string][]string{"": dynamo.TableActions, "owner-index": dynamo.IndexActions}
		if got := actions(used); !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("the store uses %v, but internal/dynamo/table.go lists %v: "+
				"fix it, and TablePolicy in template.yaml, or add a test to plantstest", got, want)
		}
	})
}

// actions returns the IAM actions that the requests to p needed, sorted, by index.
func actions(p *dynamolocal.Proxy) map[string][]string {
	all := map[string][]string{}
	for _, r := range p.Requests() {
		all[r.IndexName] = append(all[r.IndexName], "dynamodb:"+r.Operation)
	}
	for index, list := range all {
		slices.Sort(list)
		all[index] = slices.Compact(list)
	}
	return all
}

// A list continues where DynamoDB ended a page, at 1 MB or earlier.
func TestListPages(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	long := strings.Repeat("🌱", plants.MaxNameLength)
	var want []plants.Plant
	for id := range int64(600) { // over 1 MB in the index
		want = append(want, plants.Plant{ID: id, Name: long, Tag: &long})
	}
	var group sync.WaitGroup
	for part := range slices.Chunk(want, 100) {
		group.Go(func() { put(t, store, "alice", part...) })
	}
	group.Wait()
	harness.Await(t, func() error {
		before := proxy.Count("Query")
		list, err := store.List(t.Context(), "alice", nil, 590)
		if queries := proxy.Count("Query") - before; err != nil || queries < 2 || !reflect.DeepEqual(list, want[:590]) {
			return fmt.Errorf("%d plants by %d queries, %v, want 590 by several", len(list), queries, err)
		}
		return nil
	})
	proxy.Fail("Query", dynamolocal.Reply(200,
		`{"Count":0,"Items":[],"LastEvaluatedKey":{"owner":{"S":"alice"},"id":{"N":"598"}}}`))
	list, err := store.List(t.Context(), "alice", nil, 10)
	if err != nil || !reflect.DeepEqual(list, want[599:]) {
		t.Errorf("after an empty page: got %v, %v, want the last plant", list, err)
	}
}

// DynamoDB starts a page directly after the cursor. Plants that it only skipped would count
// towards the limit, and cost as much as the plants on the page.
func TestListSkipsNothing(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for id := range int64(20) {
		put(t, store, "alice", plants.Plant{ID: id})
	}
	list, err := store.List(t.Context(), "alice", new(int64(11)), 5)
	if err != nil || len(list) != 5 || list[0].ID != 12 || proxy.Count("Query") != 1 {
		t.Errorf("got %+v by %d queries, %v, want the plants 12 to 16 by one", list, proxy.Count("Query"), err)
	}
}
