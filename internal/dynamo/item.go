package dynamo

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/plantstore/internal/records"
)

// The attributes of every item. The fields of the record are beside them, under
// their names in JSON. A zero field has no attribute. Expressions, which are texts,
// spell the names out, with #owner for the reserved word owner.
const (
	attrID         = "id"          // N, the partition key
	attrOwner      = "owner"       // S
	attrCreatedAt  = "created_at"  // S, a timestamp; Delete compares it
	attrWriteToken = "write_token" // S, of the request that created the record
)

// An item is a record as DynamoDB stores it, or some of its attributes.
type item = map[string]types.AttributeValue

var (
	encoder = attributevalue.NewEncoder(func(o *attributevalue.EncoderOptions) { o.TagKey = "json" })
	decoder = attributevalue.NewDecoder(func(o *attributevalue.DecoderOptions) { o.TagKey = "json" })
)

// encode returns the item for a record that is created now.
func (s *Store[T]) encode(owner string, r records.Record[T], token records.WriteToken) (item, error) {
	it := item{
		attrID:         number(r.ID),
		attrOwner:      str(owner),
		attrCreatedAt:  str(timestamp(time.Now())),
		attrWriteToken: str(string(token)),
	}
	fields := reflect.ValueOf(r.Fields)
	for i, name := range s.fields {
		if fields.Field(i).IsZero() {
			continue
		}
		v, err := encoder.Encode(fields.Field(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		it[name] = v
	}
	return it, nil
}

// decode stores the record in it in r. Fields without an attribute stay zero.
func (s *Store[T]) decode(it item, r *records.Record[T]) (err error) {
	if r.ID, err = integer(it, attrID); err != nil {
		return s.malformed(it, err)
	}
	fields := reflect.ValueOf(&r.Fields).Elem()
	for i, name := range s.fields {
		if it[name] == nil {
			continue
		}
		switch field := fields.Field(i).Addr().Interface().(type) {
		case *string: // faster than decoder, and rejects numbers
			*field, err = text(it, name)
		case **string:
			*field = new("")
			**field, err = text(it, name)
		default:
			if err = decoder.Decode(it[name], field); err != nil {
				err = fmt.Errorf("attribute %q: %w", name, err)
			}
		}
		if err != nil {
			return s.malformed(it, err)
		}
	}
	return nil
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
