package dynamolocal

import (
	"fmt"
	"net/http"
)

// A Fault answers a request in place of DynamoDB.
type Fault func(x *Exchange)

// The faults that leave the request undone.
var (
	// Throttle refuses the request for its rate, as a table of limited
	// capacity does.
	Throttle = Refuse(http.StatusBadRequest, "ProvisionedThroughputExceededException")

	// Unavailable is a fault of the service before it did anything.
	Unavailable = Refuse(http.StatusServiceUnavailable, "ServiceUnavailable")
)

// Cut closes the connection without an answer.
func Cut(*Exchange) { panic(http.ErrAbortHandler) }

// Hang gives no answer until the client gives up.
func Hang(x *Exchange) {
	select {
	case <-x.R.Context().Done():
	case <-x.proxy.closing:
	}
}

// Garble answers with something that isn't DynamoDB's.
func Garble(x *Exchange) {
	Answer{http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte("<html>Welcome</html>")}.writeTo(x.W)
}

// Refuse answers with a status and an error code.
func Refuse(status int, code string) Fault {
	return func(x *Exchange) { refuse(x, status, code) }
}

// Lose carries the request out and closes the connection without an answer.
func Lose(x *Exchange) {
	x.Forward()
	Cut(x)
}

// LoseSlowly carries the request out and gives no answer until the client
// gives up.
func LoseSlowly(x *Exchange) {
	x.Forward()
	Hang(x)
}

// Truncate carries the request out and closes the connection in the middle of
// the answer.
func Truncate(x *Exchange) {
	truncate(x)
	Cut(x)
}

// Stall carries the request out and stops in the middle of the answer until the
// client gives up.
func Stall(x *Exchange) {
	truncate(x)
	Hang(x)
	Cut(x)
}

// BreakAfter carries the request out and answers with a fault of the service.
func BreakAfter(x *Exchange) {
	x.Forward()
	refuse(x, http.StatusInternalServerError, "InternalServerError")
}

func refuse(x *Exchange, status int, code string) {
	x.W.Header().Set("Content-Type", "application/x-amz-json-1.0")
	x.W.WriteHeader(status)
	fmt.Fprintf(x.W, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"refused by a test"}`, code)
}

func truncate(x *Exchange) {
	a := x.Forward()
	a.Header.Set("Content-Length", fmt.Sprint(len(a.Body)))
	a.Body = a.Body[:len(a.Body)/2]
	a.writeTo(x.W)
	x.W.(http.Flusher).Flush()
}
