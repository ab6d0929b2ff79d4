package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/selftest"
)

// reserve is the time for the report. The hook stops trying the new version that long
// before its own deadline: without a report, the deployment waits for an hour.
const reserve = 15 * time.Second

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
	log := h.log.With("version", h.version, "deployment", e.DeploymentID)
	status := types.LifecycleEventStatusSucceeded
	if err := h.try(ctx); err != nil {
		status = types.LifecycleEventStatusFailed
		log.Error("new version rejected", "cause", err.Error())
	} else {
		log.Info("new version accepted")
	}
	_, err := h.deployment.PutLifecycleEventHookExecutionStatus(ctx, &codedeploy.PutLifecycleEventHookExecutionStatusInput{
		DeploymentId:                  &e.DeploymentID,
		LifecycleEventHookExecutionId: &e.ExecutionID,
		Status:                        status,
	})
	return err
}

// try returns an error if the new version doesn't work. It tries again until the
// deadline, since most causes may pass: new permissions take some seconds to apply,
// Lambda or DynamoDB throttles, a fetch of keys fails.
func (h *hook) try(ctx context.Context) error {
	deadline, _ := ctx.Deadline() // Lambda sets one
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-reserve))
	defer cancel()
	var cause error
	for {
		err := h.selftest(ctx)
		if err == nil {
			return nil
		}
		// If the deadline ended this self-test, an earlier error says more.
		if cause == nil || ctx.Err() == nil {
			cause = err
		}
		select {
		case <-ctx.Done():
			return cause
		case <-time.After(2 * time.Second):
		}
	}
}

// selftest makes the new version test itself: its table, its keys, and that it serves HTTP
// requests.
func (h *hook) selftest(ctx context.Context) error {
	out, err := h.function.Invoke(ctx, &lambdaclient.InvokeInput{FunctionName: &h.version, Payload: []byte(selftest.Event)})
	if err != nil {
		return err
	}
	if out.FunctionError != nil {
		return fmt.Errorf("the function failed: %.2000s", out.Payload)
	}
	var report selftest.Report
	if err := json.Unmarshal(out.Payload, &report); err != nil || report.Parts == nil {
		return fmt.Errorf("the function answered the self-test with %.500s", out.Payload)
	}
	if report.OK {
		return nil
	}
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(report.Parts)) {
		if result := report.Parts[name]; result != "ok" {
			failed = append(failed, name+": "+result)
		}
	}
	return errors.New(strings.Join(failed, "; "))
}
