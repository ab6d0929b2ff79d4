package dynamo_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/test/dynamolocal"
)

// If this machine's clock is wrong, DynamoDB refuses a signature. The call corrects the
// clock and succeeds, and later calls start with the right time.
func TestWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client, err := dynamo.NewClient(aws.Config{BaseEndpoint: aws.String("http://dynamodb.test")}, discard)
		if err != nil {
			t.Fatal(err)
		}
		client.Options().HTTPClient.(*http.Client).Transport = dynamolocal.Fault(func(r *http.Request) (*http.Response, error) {
			requests++
			now, respond := time.Now().Add(time.Hour), dynamolocal.Reply(200, "{}")
			signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
			if err != nil || now.Sub(signed).Abs() > 5*time.Minute {
				respond = dynamolocal.Refuse(400, "InvalidSignatureException")
			}
			resp, err := respond(r)
			resp.Header.Set("Date", now.UTC().Format(http.TimeFormat))
			return resp, err
		})
		store := dynamo.New[plants.Plant](client, "plants")
		for _, op := range operations {
			if err := op.call(t.Context(), store); err != nil {
				t.Errorf("%s: %v", op.name, err)
			}
		}
		if requests != 1+len(operations) {
			t.Errorf("%d requests, want one to find the time, and one for each of %d calls", requests, len(operations))
		}
	})
}
