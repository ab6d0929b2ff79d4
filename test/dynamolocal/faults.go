package dynamolocal

import (
	"fmt"
	"net/http"
)

// A Fault answers a request in place of DynamoDB.
type Fault func(x *Exchange)

// Faults before the request is carried out.
var (
	// Throttle refuses the request for its rate, as a table with limited
	// capacity does.
	Throttle = Refuse(http.StatusBadRequest, "ProvisionedThroughputExceededException")

	// Unavailable is a server error.
	Unavailable = Refuse(http.StatusServiceUnavailable, "ServiceUnavailable")

	// Garble answers with something that isn't DynamoDB's.
	Garble = Reply(http.StatusOK, "<html>Welcome</html>")
)

// Cut closes the connection without an answer.
func Cut(*Exchange) { panic(http.ErrAbortHandler) }

// Hang doesn't answer until the client gives up.
func Hang(x *Exchange) {
	select {
	case <-x.R.Context().Done():
	case <-x.proxy.closing:
	}
}

// Reply answers with the given status and body.
func Reply(status int, body string) Fault {
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	return func(x *Exchange) { Answer{status, header, []byte(body)}.writeTo(x.W) }
}

// Refuse answers with an error of DynamoDB.
func Refuse(status int, code string) Fault {
	return Reply(status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"refused by a test"}`, code))
}

// After returns a fault that carries the request out before it meets f.
func After(f Fault) Fault {
	return func(x *Exchange) {
		x.Forward()
		f(x)
	}
}

// Late returns a fault that closes the connection without an answer, and the
// function that carries the request out later.
func Late() (f Fault, carryOut func() Answer) {
	held := make(chan *Exchange, 1)
	return func(x *Exchange) {
		held <- x
		Cut(x)
	}, func() Answer { return (<-held).Forward() }
}

// Truncate carries the request out and sends half of the answer. The server then
// closes the connection.
func Truncate(x *Exchange) {
	a := x.Forward()
	a.Header.Set("Content-Length", fmt.Sprint(len(a.Body)))
	a.Body = a.Body[:len(a.Body)/2]
	a.writeTo(x.W)
	x.W.(http.Flusher).Flush()
}

// Stall carries the request out and stops in the middle of the answer until the
// client gives up.
func Stall(x *Exchange) {
	Truncate(x)
	Hang(x)
}

// Corrupt carries the request out and changes the answer, but not its checksum.
// Errors have none, and stay unchanged.
func Corrupt(x *Exchange) {
	a := x.Forward()
	if a.Header.Get("X-Amz-Crc32") != "" {
		a.Header.Del("Content-Length")
		a.Body = append(a.Body, ' ')
	}
	a.writeTo(x.W)
}
