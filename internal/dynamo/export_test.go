package dynamo

import (
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Transport returns the transport of a client from [NewClient].
func Transport(client *dynamodb.Client) *http.Transport {
	return client.Options().HTTPClient.(*http.Client).Transport.(transport).Transport
}

// SetSourceTimeout changes the limit of requests to a source of credentials. It returns a function
// that sets it back.
func SetSourceTimeout(d time.Duration) (reset func()) {
	before := sourceTimeout
	sourceTimeout = d
	return func() { sourceTimeout = before }
}
