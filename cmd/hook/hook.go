package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"

	"example.com/plantstore/internal/check"
	"example.com/plantstore/internal/handlers"
)

// timeout limits the trial of the new version, whose first invocation includes
// its init. The function's own timeout must be longer: a hook that doesn't report
// blocks the deployment for an hour.
const timeout = 45 * time.Second

// A hook tries a new version of the function.
type hook struct {
	version    string // ARN
	function   *lambdaclient.Client
	deployment *codedeploy.Client
	log        *slog.Logger
}

// An event is what CodeDeploy sends.
type event struct {
	DeploymentID string `json:"DeploymentId"`
	ExecutionID  string `json:"LifecycleEventHookExecutionId"`
}

// handle tries the new version and reports the result to CodeDeploy. The reason
// for a failure is in the log; CodeDeploy takes none.
func (h *hook) handle(ctx context.Context, e event) error {
	status := types.LifecycleEventStatusSucceeded
	if err := h.try(ctx); err != nil {
		status = types.LifecycleEventStatusFailed
		h.log.Error("new version rejected", "version", h.version, "deployment", e.DeploymentID, "cause", err.Error())
	} else {
		h.log.Info("new version accepted", "version", h.version, "deployment", e.DeploymentID)
	}
	_, err := h.deployment.PutLifecycleEventHookExecutionStatus(ctx, &codedeploy.PutLifecycleEventHookExecutionStatusInput{
		DeploymentId:                  &e.DeploymentID,
		LifecycleEventHookExecutionId: &e.ExecutionID,
		Status:                        status,
	})
	return err
}

// try returns an error if the new version doesn't work. Permissions that were
// granted just before take some seconds to apply, so it tries again if the hook or
// the new version was denied access.
func (h *hook) try(ctx context.Context) error {
	const attempts, delay = 10, 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := errors.Join(h.tryRequest(ctx), h.tryCheck(ctx))
		if err == nil || attempt == attempts || !strings.Contains(err.Error(), "AccessDenied") {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(delay):
		}
	}
}

// tryRequest sends a request without a token, which must be rejected.
func (h *hook) tryRequest(ctx context.Context) error {
	request := events.APIGatewayV2HTTPRequest{Version: "2.0", RouteKey: "$default", RawPath: "/plants"}
	request.RequestContext.HTTP.Method = "GET"
	var response events.APIGatewayV2HTTPResponse
	if err := h.invoke(ctx, request, &response); err != nil {
		return err
	}
	want := handlers.CodeNoToken
	var body struct {
		Error   handlers.Code
		Message string
	}
	err := json.Unmarshal([]byte(response.Body), &body)
	if err != nil || response.StatusCode != want.Status() || body.Error != want || body.Message == "" {
		return fmt.Errorf("a request without a token got status %d, want %d with error %d: %.500s",
			response.StatusCode, want.Status(), want, response.Body)
	}
	return nil
}

// tryCheck has the new version check its parts, which must all work.
func (h *hook) tryCheck(ctx context.Context) error {
	var report check.Report
	if err := h.invoke(ctx, json.RawMessage(check.Event), &report); err != nil {
		return err
	}
	if !report.OK {
		return fmt.Errorf("the check failed: %v", report.Parts)
	}
	return nil
}

// invoke invokes the new version and stores its response in response.
func (h *hook) invoke(ctx context.Context, request, response any) error {
	payload, err := json.Marshal(request)
	if err != nil {
		return err
	}
	out, err := h.function.Invoke(ctx, &lambdaclient.InvokeInput{FunctionName: &h.version, Payload: payload})
	if err != nil {
		return err
	}
	if out.FunctionError != nil {
		return fmt.Errorf("the function failed: %.500s", out.Payload)
	}
	if err := json.Unmarshal(out.Payload, response); err != nil {
		return fmt.Errorf("the function answered %.500q: %w", out.Payload, err)
	}
	return nil
}
