package dynamo_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// A Delete that DynamoDB carries out after its call has returned doesn't delete a
// newer plant with the same id.
func TestLateDelete(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	if err := create.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	late, carryOut := dynamolocal.Late()
	proxy.Fail("DeleteItem", late)
	if err := remove.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if err := create.call(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if got := carryOut(); got.Status != http.StatusBadRequest {
		t.Errorf("the late request: status %d, %s", got.Status, got.Body)
	}
	wantPlants(t, store, fern)
}

// A plant whose creator's clock is ahead can be deleted at once.
func TestDeleteClockAhead(t *testing.T) {
	t.Parallel()
	direct, table := dynamolocal.Table(t)
	proxy := dynamolocal.NewProxy(t, *direct.Options().BaseEndpoint)
	store := dynamo.New(dynamolocal.Client(t, proxy.URL), table)
	it := item{"id": number("7"), "owner": str("alice"), "name": str("fern"), "write_token": str("token"),
		"created_at": str(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))}
	if _, err := direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
		t.Fatal(err)
	}

	// An unanswered attempt may have deleted another plant, before this one was
	// created.
	proxy.Fail("DeleteItem", dynamolocal.Cut)
	wantSentinel(t, "Delete after an unanswered attempt", remove.call(t.Context(), store), plants.ErrUnreachable)
	wantPlants(t, store, fern)

	proxy.Fail("DeleteItem", dynamolocal.Throttle)
	if err := remove.call(t.Context(), store); err != nil {
		t.Error(err)
	}
	wantPlants(t, store)
}

// No fault makes the store lose what it has acknowledged, not even deletes that
// are carried out late.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	faults := []dynamolocal.Fault{
		nil, dynamolocal.Throttle, dynamolocal.Unavailable, dynamolocal.Garble, dynamolocal.Cut, dynamolocal.After(dynamolocal.Cut),
		dynamolocal.Truncate, dynamolocal.After(dynamolocal.Unavailable), dynamolocal.Corrupt, dynamolocal.Reply(200, ""), dynamolocal.Reply(400, ""),
	}
	late := make(chan func() dynamolocal.Answer, 100)
	lateDelete := func(x *dynamolocal.Exchange) {
		fault, carryOut := dynamolocal.Late()
		late <- carryOut
		fault(x)
	}

	exists := false // fern
	for range 50 {
		op, fault := create, faults[rand.IntN(len(faults))]
		if rand.IntN(2) == 0 {
			op = remove
			if rand.IntN(2) == 0 {
				fault = lateDelete
			}
		}
		proxy.Fail(op.request, fault)
		err := op.call(t.Context(), store)
		switch {
		case op.name == "Create" && exists && errors.Is(err, plants.ErrInUse):
		case op.name == "Create" && !exists && err == nil:
			exists = true
		case op.name == "Delete" && exists && err == nil:
			exists = false
		case op.name == "Delete" && !exists && (err == nil || errors.Is(err, plants.ErrNotFound)):
		default:
			t.Fatalf("%s: %v, but the plant exists: %t", op.name, err, exists)
		}
		if len(late) > 0 && rand.IntN(3) == 0 {
			(<-late)()
		}
	}
	for len(late) > 0 {
		(<-late)()
	}
	if exists {
		wantPlants(t, store, fern)
	} else {
		wantPlants(t, store)
	}
}
