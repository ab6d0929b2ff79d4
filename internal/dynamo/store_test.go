package dynamo_test

import (
	"maps"
	"slices"
	"testing"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
	"example.com/plantstore/test/dynamolocal"
)

func TestStore(t *testing.T) {
	t.Run("Plant", func(t *testing.T) { testStore(t, recordstest.Plants()) })
	t.Run("Sample", func(t *testing.T) { testStore(t, recordstest.Samples()) })
}

// The store keeps the contract of [records.Store], and uses exactly the actions of
// [dynamo.TableActions] and [dynamo.IndexActions]. So does Probe, which would
// else accept a function that lacks a permission.
func testStore[T records.Fields](t *testing.T, examples []T) {
	t.Parallel()
	direct, table := dynamolocal.Table(t)
	used, probed := dynamolocal.NewProxy(t, *direct.SDK.Options().BaseEndpoint), dynamolocal.NewProxy(t, *direct.SDK.Options().BaseEndpoint)
	store := dynamo.New[T](dynamolocal.Client(t, used.URL), table)
	recordstest.TestStore(t, examples, func(*testing.T) records.Store[T] { return store })
	if err := dynamo.Probe(t.Context(), dynamolocal.Client(t, probed.URL), table); err != nil {
		t.Error(err)
	}
	want := map[string][]string{"": dynamo.TableActions, "owner-index": dynamo.IndexActions}
	if got := actions(used); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the store uses %v, but internal/dynamo/table.go has %v: correct it, and TablePolicy in template.yaml, or add a test to recordstest", got, want)
	}
	if got := actions(probed); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Probe uses %v, but internal/dynamo/table.go has %v: make Probe try each action, and no other", got, want)
	}
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

// The store doesn't overwrite fields by its own attributes.
func TestFieldOfReservedName(t *testing.T) {
	for name, open := range map[string]func(){
		"id": func() {
			dynamo.New[struct {
				X string `json:"id"`
			}](nil, "plants")
		},
		"owner": func() {
			dynamo.New[struct {
				X string `json:"owner"`
			}](nil, "plants")
		},
		"created_at": func() {
			dynamo.New[struct {
				X string `json:"created_at"`
			}](nil, "plants")
		},
		"write_token": func() {
			dynamo.New[struct {
				X string `json:"write_token"`
			}](nil, "plants")
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New accepted a field with the name %s", name)
				}
			}()
			open()
		}()
	}
}

// A page says where the list goes on even if DynamoDB found nothing in it.
func TestListEmptyPage(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	proxy.Fail("Query", dynamolocal.Reply(200, `{"Count":0,"Items":[],"LastEvaluatedKey":{"owner":{"S":"alice"},"id":{"N":"-7"}}}`))
	page, err := store.List(t.Context(), "alice", records.Query{Limit: 10})
	if err != nil || len(page.Records) != 0 || page.Next == nil || *page.Next != -7 {
		t.Errorf("got %+v, %v, want no plants, and Next -7", page, err)
	}
}

// DynamoDB starts a page after its cursor, wherever that is: plants that it only
// skips would count towards the limit, and cost as much as those of the page.
func TestListSkipsNothing(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for id := range int64(20) {
		put(t, store, "alice", record{ID: id})
	}
	page, err := store.List(t.Context(), "alice", records.Query{After: new(int64(11)), Limit: 5})
	if err != nil || len(page.Records) != 5 || page.Records[0].ID != 12 || proxy.Count("Query") != 1 {
		t.Errorf("got %+v by %d queries, %v, want the plants 12 to 16 by one", page, proxy.Count("Query"), err)
	}
}
