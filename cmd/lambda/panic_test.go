package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/lambdahttp"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/plants"
)

// A panicking store does what no request can bring the real ones to.
type panicking struct{ plants.Store }

func (panicking) List(context.Context, string, plants.Query) (plants.Page, error) {
	panic("a fault of ours")
}

// A panic is one ERROR line with its stack and both request ids, and an answer
// in the Error shape. Two layers recover, of which one must not hear of it.
func TestPanic(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	var out bytes.Buffer
	log := logging.New(&out, slog.LevelInfo)
	h := lambdahttp.New(handlers.New(panicking{}, issuer.Verifier(t), log), lambdahttp.Options{Logger: log})
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of Lambda"})
	answer, err := h.Invoke(ctx, fmt.Appendf(nil, `{"version":"2.0","rawPath":"/plants","headers":{"authorization":"Bearer %s"},`+
		`"requestContext":{"requestId":"of API Gateway","http":{"method":"GET"}}}`, issuer.Token("alice")))
	if err != nil || !strings.HasPrefix(string(answer), `{"statusCode":500,`) || !strings.Contains(string(answer), `{\"error\":50000,`) ||
		strings.Contains(string(answer), "a fault of ours") {
		t.Errorf("%v\n%s", err, answer)
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("the log is not one line: %v\n%s", err, &out)
	}
	stack, _ := line["stack"].(string)
	if line["level"] != "ERROR" || line["cause"] != "panic: a fault of ours" || !strings.Contains(stack, "panicking.List") ||
		line["request_id"] != "of Lambda" || line["apigw_request_id"] != "of API Gateway" {
		t.Errorf("the log has\n%s", &out)
	}
}
