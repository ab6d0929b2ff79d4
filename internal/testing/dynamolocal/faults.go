package dynamolocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A Fault responds to a request in place of DynamoDB. If it returns an error, the
// proxy closes the connection to the client without a response.
type Fault func(r *http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f Fault) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Forward carries the request out, even if the client has gone.
func Forward(r *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
}

// Throttle refuses the request for its rate, as a table with limited capacity does.
var Throttle = Refuse(http.StatusBadRequest, "ProvisionedThroughputExceededException")

// Cut closes the connection without a response.
func Cut(*http.Request) (*http.Response, error) { return nil, errors.New("cut by a test") }

// Hang doesn't respond until the client gives up.
func Hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return Cut(r)
}

// Reply responds with the given status and body.
func Reply(status int, body string) Fault {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status,
			Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
			Body:       io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// Refuse responds with an error of DynamoDB.
func Refuse(status int, code string) Fault {
	return Reply(status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"refused by a test"}`,
		code))
}

// After returns a fault that carries the request out before it meets f.
func After(f Fault) Fault {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := Forward(r)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		return f(r)
	}
}
