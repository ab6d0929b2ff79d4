package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// The attributes of an item. Items from earlier versions also have write_token, which
// nothing reads. Expressions use placeholders such as #owner for owner, name and tag, since
// these names may be reserved words.
const (
	attrID        = "id"         // N, the partition key
	attrOwner     = "owner"      // S
	attrName      = "name"       // S
	attrTag       = "tag"        // S, absent if the plant has no tag
	attrCreatedAt = "created_at" // S, a timestamp; Delete compares it
)

// attributes are the attributes of an item, or the values of an expression, by name.
type attributes = map[string]types.AttributeValue

// encode returns the item for a plant that is created now.
func encode(owner string, p plants.Plant) attributes {
	it := attributes{
		attrID:        number(p.ID),
		attrOwner:     text(owner),
		attrName:      text(p.Name),
		attrCreatedAt: text(timestamp(time.Now())),
	}
	if p.Tag != nil {
		it[attrTag] = text(*p.Tag)
	}
	return it
}

// decode returns the plant in it.
func decode(it attributes) (p plants.Plant, err error) {
	if p.ID, err = getNumber(it, attrID); err != nil {
		return p, err
	}
	if p.Name, err = getText(it, attrName); err != nil {
		return p, err
	}
	if it[attrTag] != nil {
		p.Tag = new(string)
		*p.Tag, err = getText(it, attrTag)
	}
	return p, err
}

// timestamp formats a time as RFC 3339 in UTC, with milliseconds. Timestamps have
// the same width, so they compare as strings.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(s string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: s}
}

func getText(it attributes, name string) (string, error) {
	if v, ok := it[name].(*types.AttributeValueMemberS); ok {
		return v.Value, nil
	}
	return "", fmt.Errorf("attribute %q is missing or not a string", name)
}

func getNumber(it attributes, name string) (int64, error) {
	if v, ok := it[name].(*types.AttributeValueMemberN); ok {
		if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("attribute %q is missing or not a 64-bit integer", name)
}
