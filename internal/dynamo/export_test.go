package dynamo

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var LoadConfig = loadConfig

var MixFamilies = mixFamilies

// Transport returns the transport of a client from [NewClient].
func Transport(client *dynamodb.Client) *http.Transport {
	return client.Options().HTTPClient.(*http.Client).Transport.(transport).Transport
}
