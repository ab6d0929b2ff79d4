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
	attrID         = "id"          // N
	attrOwner      = "owner"       // S
	attrName       = "name"        // S
	attrTag        = "tag"         // S, absent when the plant has none
	attrCreatedAt  = "created_at"  // S, RFC 3339 in UTC; for people, not read back
	attrWriteToken = "write_token" // S, of the request that made the plant
)

// An item is a plant as DynamoDB keeps it, or a part of one. It is encoded by
// hand: six attributes need no reflection, and a string stays the bytes it is.
type item = map[string]types.AttributeValue

func newItem(owner string, p plants.Plant, token plants.WriteToken, now time.Time) item {
	it := item{
		attrID:         number(p.ID),
		attrOwner:      str(owner),
		attrName:       str(p.Name),
		attrCreatedAt:  str(now.UTC().Format(time.RFC3339)),
		attrWriteToken: str(string(token)),
	}
	if p.Tag != nil {
		it[attrTag] = str(*p.Tag)
	}
	return it
}

// plant decodes an item, of which it reads id, name and tag.
func plant(it item) (plants.Plant, error) {
	id, err := integer(it, attrID)
	if err != nil {
		return plants.Plant{}, err
	}
	name, err := text(it, attrName)
	if err != nil {
		return plants.Plant{}, err
	}
	p := plants.Plant{ID: id, Name: name}
	if _, ok := it[attrTag]; ok {
		tag, err := text(it, attrTag)
		if err != nil {
			return plants.Plant{}, err
		}
		p.Tag = &tag
	}
	return p, nil
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func str(s string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: s}
}

func text(it item, name string) (string, error) {
	switch v := it[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case nil:
		return "", fmt.Errorf("attribute %q is missing", name)
	default:
		return "", fmt.Errorf("attribute %q is no string", name)
	}
}

func integer(it item, name string) (int64, error) {
	switch v := it[name].(type) {
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("attribute %q is no 64-bit integer: %s", name, v.Value)
		}
		return n, nil
	case nil:
		return 0, fmt.Errorf("attribute %q is missing", name)
	default:
		return 0, fmt.Errorf("attribute %q is no number", name)
	}
}

// describeID returns the id of an item that may be malformed, for an error.
func describeID(it item) string {
	if n, ok := it[attrID].(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return "(unknown)"
}
