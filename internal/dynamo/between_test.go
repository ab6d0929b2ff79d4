package dynamo_test

import (
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// A Delete that finds nothing was a success only if an attempt before may have
// been carried out.
func TestDeleteFindsNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault dynamolocal.Fault
		want  error
	}{
		{"no fault", nil, plants.ErrNotFound},
		{"throttled", dynamolocal.Throttle, plants.ErrNotFound},
		{"throttled, with a server's status", dynamolocal.Refuse(503, "ThrottlingException"), plants.ErrNotFound},
		{"clock wrong", dynamolocal.Refuse(400, "RequestTimeout"), plants.ErrNotFound},
		{"connection cut", dynamolocal.Cut, nil},
		{"unavailable", dynamolocal.Unavailable, nil},
		{"unreadable", dynamolocal.Garble, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store, proxy := newFaulty(t)
			proxy.Fail("DeleteItem", test.fault)
			if err := store.Delete(t.Context(), "alice", 1); !errors.Is(err, test.want) {
				t.Errorf("Delete: %v, want %v", err, test.want)
			}

			// Another owner's plant is never one's own that is gone.
			if err := store.Create(t.Context(), "bob", fern, plants.NewWriteToken()); err != nil {
				t.Fatal(err)
			}
			proxy.Fail("DeleteItem", test.fault)
			if err := store.Delete(t.Context(), "alice", fern.ID); !errors.Is(err, plants.ErrNotFound) {
				t.Errorf("Delete of another's plant: %v, want ErrNotFound", err)
			}
		})
	}
}

// An attempt that found no connection can't have been carried out.
func TestDeleteAfterNoConnection(t *testing.T) {
	t.Parallel()
	direct, table := dynamolocal.Table(t)
	var once sync.Once
	cfg := dynamolocal.Config(*direct.Options().BaseEndpoint)
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.Proxy = func(*http.Request) (_ *url.URL, err error) {
			once.Do(func() { err = errors.New("no route") })
			return nil, err
		}
	})
	client, err := dynamo.NewClientFromConfig(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamo.New(client, table).Delete(t.Context(), "alice", 1); !errors.Is(err, plants.ErrNotFound) {
		t.Errorf("Delete: %v, want ErrNotFound", err)
	}
}

// An attempt that may have got through is no claim to a plant of someone else's.
func TestCreateFindsAnothers(t *testing.T) {
	t.Parallel()
	store, proxy := newFaulty(t)
	if err := store.Create(t.Context(), "bob", fern, plants.NewWriteToken()); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []dynamolocal.Fault{dynamolocal.Cut, dynamolocal.Unavailable, dynamolocal.Lose} {
		proxy.Fail("PutItem", fault)
		wantSentinel(t, "Create", create.call(t.Context(), store), plants.ErrInUse)
	}
}
