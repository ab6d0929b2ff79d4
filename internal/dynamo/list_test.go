package dynamo_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// DynamoDB ends a page at 1 MB. The next List continues there, and returns each
// plant once. Tests that load many plants don't run in parallel: DynamoDB Local
// would answer the others too late.
func TestListLargePlants(t *testing.T) {
	client, table := dynamolocal.Table(t)
	store := dynamo.New(client, table)
	const n = 1500 // of 1 KB each
	load(t, client, table, "alice", 0, n, strings.Repeat("🌱", plants.MaxNameLength))

	var got []int64
	pages := 0
	for q := (plants.Query{Limit: math.MaxInt}); ; pages++ {
		page, err := store.List(t.Context(), "alice", q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Plants {
			got = append(got, p.ID)
		}
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	if pages == 0 {
		t.Error("one page has all plants, so the test shows nothing")
	}
	if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
		t.Errorf("got %d plants, want %d in order", len(got), n)
	}
}

// A page of DynamoDB without items says where the list goes on.
func TestListEmptyPage(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	proxy.Fail("Query", dynamolocal.Reply(200, `{"Count":0,"ScannedCount":0,"Items":[],"LastEvaluatedKey":{"owner":{"S":"alice"},"id":{"N":"7"}}}`))
	page, err := store.List(t.Context(), "alice", plants.Query{Limit: 10})
	if err != nil || len(page.Plants) > 0 || page.Next == nil || *page.Next != 7 {
		t.Errorf("got %+v, %v, want an empty page that goes on after 7", page, err)
	}
}

// The cost of a page doesn't depend on how many plants its owner has.
func TestListCost(t *testing.T) {
	direct, table := dynamolocal.Table(t)
	const fewPlants, manyPlants = 200, 4000
	load(t, direct, table, "many", 0, manyPlants, "fern")
	load(t, direct, table, "few", manyPlants, fewPlants, "fern")

	type cost struct {
		requests int
		units    float64 // read units
	}
	var total cost
	meter := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		middleware.InitializeOutput, middleware.Metadata, error,
	) {
		in.Parameters.(*dynamodb.QueryInput).ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		out, metadata, err := next.HandleInitialize(ctx, in)
		if q, ok := out.Result.(*dynamodb.QueryOutput); ok && err == nil {
			total.requests++
			total.units += *q.ConsumedCapacity.CapacityUnits
		}
		return out, metadata, err
	}
	cfg := dynamolocal.Config(*direct.Options().BaseEndpoint)
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", meter), middleware.Before)
	})
	client, err := dynamo.NewClient(cfg, discard)
	if err != nil {
		t.Fatal(err)
	}
	page := func(owner string, after int) cost {
		total = cost{}
		page, err := dynamo.New(client, table).List(t.Context(), owner, plants.Query{After: new(int64(after)), Limit: 100})
		if err != nil || len(page.Plants) != 100 {
			t.Fatalf("a page of %d plants, want 100: %v", len(page.Plants), err)
		}
		return total
	}
	few, many := page("few", manyPlants+50), page("many", manyPlants/2)
	t.Logf("a page of 100 of %d plants costs %+v, of %d plants %+v", fewPlants, few, manyPlants, many)
	if few != many {
		t.Error("the costs differ")
	}
	if few.requests != 1 || few.units != 1.5 {
		t.Errorf("a page costs %+v, want 1 request and half a unit per 4 KB", few)
	}
}

// load writes n plants with ids from first on, in batches.
func load(t testing.TB, client *dynamodb.Client, table, owner string, first, n int, name string) {
	t.Helper()
	var all []types.WriteRequest
	for id := first; id < first+n; id++ {
		all = append(all, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{
			"id":          number(strconv.Itoa(id)),
			"owner":       str(owner),
			"name":        str(name),
			"created_at":  str("2026-01-02T03:04:05Z"),
			"write_token": str(string(plants.NewIdempotencyKey())),
		}}})
	}
	for batch := range slices.Chunk(all, 25) { // the maximum of BatchWriteItem
		out, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: batch},
		})
		if err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatalf("load: %v", err)
		}
	}
}
