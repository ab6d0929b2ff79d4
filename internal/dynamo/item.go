package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/plants"
)

// An item is what the table keeps of a plant: its fields, by the names in their tags, and
// these. Expressions use the placeholder #owner, since owner may be a reserved word.
type item struct {
	plants.Plant
	Owner string `dynamodbav:"owner"`

	// CreatedAt is a [timestamp]. It tells the plant from a later one with the same id.
	CreatedAt string `dynamodbav:"created_at"`
}

// The names of the key attributes.
const (
	attrID    = "id"
	attrOwner = "owner"
)

// attributes are the attributes of an item, or the values of an expression, by name.
type attributes = map[string]types.AttributeValue

// timestamp formats a time as RFC 3339 in UTC, with milliseconds.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// decode reads attributes of the store's table into out. It doesn't validate them, so that
// older plants stay readable when a rule changes.
func (s *Store) decode(it attributes, out any) error {
	err := attributevalue.UnmarshalMap(it, out)
	if err == nil {
		return nil
	}
	id := "(unknown)"
	if n, ok := it[attrID].(*types.AttributeValueMemberN); ok {
		id = n.Value
	}
	return fmt.Errorf("table %q has a malformed item with id %s: %w; fix or remove it", s.table, id, err)
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(s string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: s}
}
