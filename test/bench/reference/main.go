// Command reference is a minimal function with the operations that the benchmark calls, as
// in the AWS documentation: aws-lambda-go, the SDK and its default settings, without
// router, authentication and validation. The service is compared with it.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

var (
	client *dynamodb.Client
	table  = aws.String(os.Getenv("TABLE_NAME"))
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		panic(err)
	}
	client = dynamodb.NewFromConfig(cfg)
	lambda.Start(handle)
}

func handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (r events.APIGatewayV2HTTPResponse, err error) {
	r.StatusCode, r.Headers = 200, map[string]string{"Content-Type": "application/json"}
	owner, names := item{":owner": text("alice")}, map[string]string{"#owner": "owner"}
	switch e.RequestContext.HTTP.Method {
	case "POST":
		var p struct {
			ID        json.Number
			Name, Tag string
		}
		if err := json.Unmarshal([]byte(e.Body), &p); err != nil {
			return r, err
		}
		r.Body = e.Body
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, ConditionExpression: aws.String("attribute_not_exists(id)"),
			Item: item{"id": number(p.ID.String()), "owner": text("alice"), "name": text(p.Name), "tag": text(p.Tag)},
		})
	case "DELETE":
		r.StatusCode = 204
		_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: table, Key: item{"id": number(strings.TrimPrefix(e.RawPath, "/plants/"))},
			ConditionExpression:      aws.String("#owner = :owner"),
			ExpressionAttributeNames: names, ExpressionAttributeValues: owner,
		})
	default:
		var out *dynamodb.QueryOutput
		out, err = client.Query(ctx, &dynamodb.QueryInput{
			TableName: table, IndexName: aws.String("owner-index"),
			KeyConditionExpression:   aws.String("#owner = :owner"),
			ExpressionAttributeNames: names, ExpressionAttributeValues: owner,
		})
		if err != nil {
			return r, err
		}
		var plants []map[string]string
		for _, it := range out.Items {
			plant := map[string]string{}
			for _, name := range []string{"name", "tag"} {
				if value, ok := it[name].(*types.AttributeValueMemberS); ok {
					plant[name] = value.Value
				}
			}
			plants = append(plants, plant)
		}
		var body []byte
		body, err = json.Marshal(plants)
		r.Body = string(body)
	}
	return r, err
}
