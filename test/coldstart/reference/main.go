// Command reference is a minimal function with the service's three operations,
// written as in the AWS documentation: with aws-lambda-go, the SDK and its
// default settings. It has no router, no authentication and no validation, so it
// is only for command coldstart, which compares the service with it.
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

type (
	event    = events.APIGatewayV2HTTPRequest
	response = events.APIGatewayV2HTTPResponse
	item     = map[string]types.AttributeValue
)

var (
	client *dynamodb.Client
	table  = aws.String(os.Getenv("TABLE_NAME"))
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		panic(err)
	}
	client = dynamodb.NewFromConfig(cfg)
	lambda.Start(handle)
}

func handle(ctx context.Context, e event) (response, error) {
	switch e.RequestContext.HTTP.Method {
	case "POST":
		return create(ctx, e.Body)
	case "DELETE":
		return remove(ctx, strings.TrimPrefix(e.RawPath, "/plants/"))
	}
	return list(ctx)
}

func create(ctx context.Context, body string) (response, error) {
	var p struct {
		ID        json.Number
		Name, Tag string
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return response{}, err
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           table,
		Item:                item{"id": &types.AttributeValueMemberN{Value: p.ID.String()}, "owner": text("alice"), "name": text(p.Name), "tag": text(p.Tag)},
		ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	return answer(200, body), err
}

func remove(ctx context.Context, id string) (response, error) {
	_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 table,
		Key:                       item{"id": &types.AttributeValueMemberN{Value: id}},
		ConditionExpression:       aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: item{":owner": text("alice")},
	})
	return answer(204, ""), err
}

func list(ctx context.Context) (response, error) {
	out, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 table,
		IndexName:                 aws.String("owner-index"),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: item{":owner": text("alice")},
	})
	if err != nil {
		return response{}, err
	}
	plants := make([]map[string]string, len(out.Items))
	for i, item := range out.Items {
		plants[i] = map[string]string{}
		for _, name := range []string{"name", "tag"} {
			if value, ok := item[name].(*types.AttributeValueMemberS); ok {
				plants[i][name] = value.Value
			}
		}
	}
	body, err := json.Marshal(plants)
	return answer(200, string(body)), err
}

func answer(status int, body string) response {
	return response{StatusCode: status, Headers: map[string]string{"Content-Type": "application/json"}, Body: body}
}
