package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// The attributes of an item.
const (
	attrID             = "id"          // N, the partition key
	attrOwner          = "owner"       // S
	attrName           = "name"        // S
	attrTag            = "tag"         // S, absent if the plant has no tag
	attrCreatedAt      = "created_at"  // S, a timestamp; Delete compares it
	attrIdempotencyKey = "write_token" // S, of the request that created the plant
)

// plantAttributes are the attributes that [decode] reads, and lists fetch.
var plantAttributes = []string{attrID, attrName, attrTag}

// An item is a plant as DynamoDB stores it, or some of its attributes. It is
// encoded by hand: that needs no reflection, and keeps every string unchanged.
type item = map[string]types.AttributeValue

func encode(owner string, p plants.Plant, key plants.IdempotencyKey, now time.Time) item {
	it := item{
		attrID:             number(p.ID),
		attrOwner:          str(owner),
		attrName:           str(p.Name),
		attrCreatedAt:      str(timestamp(now)),
		attrIdempotencyKey: str(string(key)),
	}
	if p.Tag != nil {
		it[attrTag] = str(*p.Tag)
	}
	return it
}

func decode(it item) (p plants.Plant, err error) {
	if p.ID, err = integer(it, attrID); err != nil {
		return plants.Plant{}, err
	}
	if p.Name, err = text(it, attrName); err != nil {
		return plants.Plant{}, err
	}
	if it[attrTag] != nil {
		tag, err := text(it, attrTag)
		if err != nil {
			return plants.Plant{}, err
		}
		p.Tag = &tag
	}
	return p, nil
}

// timestamp formats a time as RFC 3339 in UTC, with milliseconds. Timestamps have
// the same width, so they compare as strings.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(s string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: s}
}

func text(it item, name string) (string, error) {
	if v, ok := it[name].(*types.AttributeValueMemberS); ok {
		return v.Value, nil
	}
	return "", fmt.Errorf("attribute %q is missing or not a string", name)
}

func integer(it item, name string) (int64, error) {
	if v, ok := it[name].(*types.AttributeValueMemberN); ok {
		if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("attribute %q is missing or not a 64-bit integer", name)
}
