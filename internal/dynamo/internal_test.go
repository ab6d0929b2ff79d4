package dynamo

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/records"
)

// The delays before the retries are random, up to a limit that doubles.
func TestDelay(t *testing.T) {
	for attempt, limit := range map[int]time.Duration{
		1: firstDelay, 2: 2 * firstDelay, 3: 4 * firstDelay, 4: 8 * firstDelay, 5: maxDelay, 64: maxDelay, 1000: maxDelay,
	} {
		var longest time.Duration
		for range 1000 {
			d := delay(attempt)
			if d < 0 || d >= limit {
				t.Fatalf("after attempt %d: %v, want less than %v", attempt, d, limit)
			}
			longest = max(longest, d)
		}
		if longest < limit/2 {
			t.Errorf("after attempt %d: none of 1000 delays is over %v, want up to %v", attempt, longest, limit)
		}
	}
}

// Names in JSON are names of attributes at any depth. The error for a value of another
// type names the field.
func TestNestedField(t *testing.T) {
	type fields struct {
		Pot struct {
			Size int64 `json:"diameter"`
		} `json:"pot"`
	}
	s, r := New[fields](nil, "plants"), records.Record[fields]{ID: 7}
	r.Fields.Pot.Size = 30
	it, err := s.encode("alice", r, "key")
	if want := any(&types.AttributeValueMemberM{Value: item{"diameter": number(30)}}); err != nil || !reflect.DeepEqual(it["pot"], want) {
		t.Errorf("got %v, %v, want the attribute pot with diameter", it, err)
	}
	var decoded records.Record[fields]
	if err := s.decode(it, &decoded); err != nil || decoded != r {
		t.Errorf("got %v, %v, want %v", decoded, err, r)
	}
	it["pot"] = str("30")
	if err := s.decode(it, &decoded); err == nil || !strings.Contains(err.Error(), `id 7: attribute "pot": `) {
		t.Errorf("got %v, want an error about the pot", err)
	}
}
