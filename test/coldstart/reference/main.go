// Command reference is the least that a function with the same three operations
// can be, as the AWS documentation has it: aws-lambda-go, the SDK and its default
// settings. It has no router, checks no token and nothing that the client sent,
// and knows one kind of failure. Package coldstart measures the service by it;
// it is not for use.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// owner is whose plants they are, without tokens to tell.
const owner = "alice"

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	f := function{dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")}
	lambda.Start(f.handle)
}

type function struct {
	client *dynamodb.Client
	table  string
}

func (f function) handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	switch e.RequestContext.HTTP.Method {
	case "POST":
		return f.create(ctx, e.Body)
	case "DELETE":
		return f.delete(ctx, strings.TrimPrefix(e.RawPath, "/plants/"))
	}
	return f.list(ctx)
}

func (f function) create(ctx context.Context, body string) (events.APIGatewayV2HTTPResponse, error) {
	var p struct {
		ID        json.Number `json:"id"`
		Name, Tag string
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	_, err := f.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &f.table,
		Item: map[string]types.AttributeValue{
			"id":    &types.AttributeValueMemberN{Value: p.ID.String()},
			"owner": &types.AttributeValueMemberS{Value: owner},
			"name":  &types.AttributeValueMemberS{Value: p.Name},
			"tag":   &types.AttributeValueMemberS{Value: p.Tag},
		},
		ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	return answer(200, body), err
}

func (f function) delete(ctx context.Context, id string) (events.APIGatewayV2HTTPResponse, error) {
	_, err := f.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &f.table,
		Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: id}},
		ConditionExpression:       aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":owner": &types.AttributeValueMemberS{Value: owner}},
	})
	return answer(204, ""), err
}

func (f function) list(ctx context.Context) (events.APIGatewayV2HTTPResponse, error) {
	out, err := f.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &f.table,
		IndexName:                 aws.String("owner-index"),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":owner": &types.AttributeValueMemberS{Value: owner}},
	})
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	type plant struct {
		Name string `json:"name"`
		Tag  string `json:"tag,omitempty"`
	}
	plants := make([]plant, 0, len(out.Items))
	for _, item := range out.Items {
		var p plant
		if name, ok := item["name"].(*types.AttributeValueMemberS); ok {
			p.Name = name.Value
		}
		if tag, ok := item["tag"].(*types.AttributeValueMemberS); ok {
			p.Tag = tag.Value
		}
		plants = append(plants, p)
	}
	body, err := json.Marshal(plants)
	return answer(200, string(body)), err
}

func answer(status int, body string) events.APIGatewayV2HTTPResponse {
	return events.APIGatewayV2HTTPResponse{
		StatusCode: status,
		Headers:    map[string]string{"Content-Type": "application/json"},
		Body:       body,
	}
}
