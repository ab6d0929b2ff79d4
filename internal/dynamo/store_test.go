package dynamo_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/dynamolocal"
)

// The store keeps the contract of [plants.Store], and uses exactly [dynamo.Actions].
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
		if got := actions(used); !maps.EqualFunc(got, dynamo.Actions, slices.Equal) {
			t.Errorf("the store uses %v, but internal/dynamo/table.go lists %v: "+
				"fix it, and TablePolicy in template.yaml, or add a test to plantstest", got, dynamo.Actions)
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

// A list is one Query, which reads one plant more than it returns. Plants that it only skipped
// would count towards the limit, and cost as much as those on the page.
func TestListReads(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for id := range int64(20) {
		put(t, store, "alice", plants.Plant{ID: id})
	}
	for _, test := range []struct {
		limit, want, reads int
		more               bool
	}{
		{5, 5, 6, true}, {8, 8, 9, false}, {math.MaxInt32, 8, math.MaxInt32, false},
	} {
		before := len(proxy.Requests())
		page, more, err := store.List(t.Context(), "alice", new(int64(11)), test.limit)
		if err != nil || len(page) != test.want || page[0].ID != 12 || more != test.more {
			t.Errorf("limit %d: got %+v, more %t, %v, want the plants from 12", test.limit, page, more, err)
		}
		if sent := proxy.Requests()[before:]; len(sent) != 1 || sent[0].Limit != test.reads {
			t.Errorf("limit %d: sent %+v, want one Query with limit %d", test.limit, sent, test.reads)
		}
	}
}
