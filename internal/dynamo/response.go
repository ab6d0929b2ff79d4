package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// addMiddleware adds [verifyResponse] to the middleware of a request, next to the
// HTTP client, and [hideToken] where it sees decoded responses.
func addMiddleware(stack *middleware.Stack) error {
	return errors.Join(
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("VerifyResponse", verifyResponse), middleware.After),
		stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("HideToken", hideToken), middleware.Before))
}

// hideToken replaces DynamoDB's message for a wrong signature, which quotes the
// session token and would be logged.
func hideToken(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if e, ok := errors.AsType[*smithy.GenericAPIError](err); ok && e.Code == "InvalidSignatureException" {
		e.Message = "the signature is wrong or has expired"
	}
	return out, metadata, err
}

// verifyResponse reads a response and returns an error if it is damaged, so that the
// request is retried. The SDK only logs a wrong checksum, and takes a success
// without a body for an empty result.
func verifyResponse(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		return out, metadata, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	// DynamoDB sends no checksum with errors.
	checksum := resp.Header.Get("X-Amz-Crc32")
	switch {
	case err != nil:
	case checksum != "" && checksum != fmt.Sprint(crc32.ChecksumIEEE(body)):
		err = errors.New("the response doesn't match its checksum")
	case len(body) == 0:
		err = errors.New("the response is empty")
	}
	if err != nil {
		err = &smithy.DeserializationError{Err: err}
	}
	return out, metadata, err
}
