package dynamo_test

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// DynamoDB ends a page at 1 MB. The list goes on behind it, and has everything
// once. (The tests that load many plants run alone: they keep DynamoDB Local
// from answering others in time.)
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
		if !page.More {
			break
		}
		q.After = &got[len(got)-1]
	}
	if pages == 0 {
		t.Error("everything came in one page, so nothing was tested")
	}
	if len(got) != n || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
		t.Errorf("got %d plants, want %d in order", len(got), n)
	}
}

// A page of DynamoDB's without items is not the caller's affair.
func TestListSkipsEmptyPages(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	for id := range int64(3) {
		if err := store.Create(t.Context(), "alice", plants.Plant{ID: id, Name: "fern"}, plants.NewWriteToken()); err != nil {
			t.Fatal(err)
		}
	}
	empty := answer(200, `{"Count":0,"ScannedCount":0,"Items":[],"LastEvaluatedKey":{"owner":{"S":"alice"},"id":{"N":"0"}}}`)
	proxy.Fail("Query", empty, empty)
	page, err := store.List(t.Context(), "alice", plants.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Plants) != 2 || page.Plants[0].ID != 1 || page.More {
		t.Errorf("got %+v, want the plants 1 and 2: those after the empty pages", page)
	}
	if got := proxy.Count("Query"); got < 3 {
		t.Errorf("%d queries, want 3: the empty pages were not met", got)
	}
}

// An answer without a body is not an empty list.
func TestListAnswerWithoutBody(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	proxy.Always("Query", answer(200, ""))
	_, err := store.List(t.Context(), "alice", plants.Query{Limit: 10})
	wantSentinel(t, "List", err, plants.ErrUnreachable)
}

// What a page costs depends on the page alone.
func TestListCost(t *testing.T) {
	client, table, m := meteredTable(t)
	load(t, client, table, "small", 10_000, 200, "fern")
	load(t, client, table, "large", 20_000, 4000, "fern")
	store := dynamo.New(client, table)

	small := m.page(t, store, "small", 10_050)
	large := m.page(t, store, "large", 22_000)
	if small != large {
		t.Errorf("a page of 100 of 200 plants costs %+v, one of 4000 costs %+v", small, large)
	}
	if small.requests != 1 {
		t.Errorf("a page takes %d requests, want 1", small.requests)
	}
	if small.units <= 0 || small.units > 2 {
		t.Errorf("a page of 100 small plants costs %v read units, want half a unit for each 4 KB", small.units)
	}
}

var benchPlants = flag.Int("plants", 100_000, "number of plants of the large owner in BenchmarkListPage")

// BenchmarkListPage compares a page of 100 plants of an owner with many plants
// to one of an owner with 1,000.
func BenchmarkListPage(b *testing.B) {
	client, table, m := meteredTable(b)
	const few = 1000
	many := *benchPlants
	start := time.Now()
	load(b, client, table, "many", 0, many, "fern")
	load(b, client, table, "few", many, few, "fern")
	b.Logf("loaded %d plants in %v", few+many, time.Since(start).Round(time.Second))
	store := dynamo.New(client, table)

	var fewCost, manyCost cost
	var fewTime, manyTime time.Duration
	for b.Loop() {
		t0 := time.Now()
		fewCost.add(m.page(b, store, "few", int64(many+rand.IntN(few-100))))
		t1 := time.Now()
		manyCost.add(m.page(b, store, "many", int64(rand.IntN(many-100))))
		fewTime, manyTime = fewTime+t1.Sub(t0), manyTime+time.Since(t1)
	}
	pages := float64(b.N)
	b.ReportMetric(float64(fewCost.requests)/pages, "requests/page-of-few")
	b.ReportMetric(float64(manyCost.requests)/pages, "requests/page-of-many")
	b.ReportMetric(fewCost.units/pages, "units/page-of-few")
	b.ReportMetric(manyCost.units/pages, "units/page-of-many")
	b.ReportMetric(manyCost.units/fewCost.units, "units-ratio")
	b.ReportMetric(float64(manyTime)/float64(fewTime), "time-ratio")
}

// A cost is what requests to DynamoDB cost.
type cost struct {
	requests int
	units    float64 // read units
}

func (c *cost) add(d cost) {
	c.requests += d.requests
	c.units += d.units
}

// A meter adds up what the queries of a client cost. It changes nothing else.
type meter struct{ total cost }

func meteredTable(t testing.TB) (*dynamodb.Client, string, *meter) {
	t.Helper()
	direct, table := dynamolocal.Table(t)
	m := new(meter)
	cfg := dynamolocal.Config(*direct.Options().BaseEndpoint)
	cfg.APIOptions = append(cfg.APIOptions, m.install)
	client, err := dynamo.NewClientFromConfig(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client, table, m
}

func (m *meter) install(stack *middleware.Stack) error {
	return errors.Join(
		stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Units", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			if q, ok := in.Parameters.(*dynamodb.QueryInput); ok {
				q.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
			}
			out, metadata, err := next.HandleInitialize(ctx, in)
			if q, ok := out.Result.(*dynamodb.QueryOutput); ok && err == nil {
				m.total.units += *q.ConsumedCapacity.CapacityUnits
			}
			return out, metadata, err
		}), middleware.Before),
		stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Requests", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if middleware.GetOperationName(ctx) == "Query" {
				m.total.requests++
			}
			return next.HandleFinalize(ctx, in)
		}), "Retry", middleware.After),
	)
}

// page reads a page of 100 plants and returns what it cost.
func (m *meter) page(t testing.TB, store plants.Store, owner string, after int64) cost {
	t.Helper()
	m.total = cost{}
	page, err := store.List(t.Context(), owner, plants.Query{After: &after, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Plants) != 100 {
		t.Fatalf("a page of %d plants, want 100", len(page.Plants))
	}
	return m.total
}

// load writes n plants with the ids from first on, quicker than the store could.
func load(t testing.TB, client *dynamodb.Client, table, owner string, first, n int, name string) {
	t.Helper()
	const batch = 25 // the most that DynamoDB takes
	batches := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for start := range batches {
				var writes []types.WriteRequest
				for id := start; id < min(start+batch, first+n); id++ {
					writes = append(writes, write(owner, id, name))
				}
				out, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
					RequestItems: map[string][]types.WriteRequest{table: writes},
				})
				if err != nil || len(out.UnprocessedItems) > 0 {
					t.Errorf("load: %v", err)
				}
			}
		})
	}
	for start := first; start < first+n; start += batch {
		batches <- start
	}
	close(batches)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func write(owner string, id int, name string) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
		"id":          &types.AttributeValueMemberN{Value: strconv.Itoa(id)},
		"owner":       &types.AttributeValueMemberS{Value: owner},
		"name":        &types.AttributeValueMemberS{Value: name},
		"created_at":  &types.AttributeValueMemberS{Value: "2026-01-02T03:04:05Z"},
		"write_token": &types.AttributeValueMemberS{Value: string(plants.NewWriteToken())},
	}}}
}
