package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/selftest"
	"example.com/plantstore/test/harness"
	"example.com/plantstore/test/lambdalocal"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The hook accepts a version that works, and rejects another with the reason in its
// log. If it can't report, it fails.
// https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html
func TestHook(t *testing.T) {
	t.Parallel()
	const version = "arn:aws:lambda:eu-central-1:123456789012:function:plants:7"
	works := func(_ context.Context, event []byte) ([]byte, error) {
		if string(event) != selftest.Event {
			t.Errorf("the hook invokes the function with %s", event)
		}
		return []byte(`{"ok":true,"parts":{}}`), nil
	}
	fails := func(context.Context, []byte) ([]byte, error) { return nil, errors.New("no init") }
	hook, err := harness.Build("cmd/hook")
	if err != nil {
		t.Fatal(err)
	}
	const long, short = time.Minute, 5 * time.Second // a version that fails is tried until the time is up
	for _, tt := range []struct {
		invoke          func(context.Context, []byte) ([]byte, error)
		time            time.Duration
		accepted        int // status of CodeDeploy's answer
		status, message string
	}{
		{works, long, 200, "Succeeded", `"level":"INFO","msg":"new version accepted"`},
		{works, long, 400, "Succeeded", `"level":"INFO","msg":"new version accepted"`},
		{fails, short, 200, "Failed", `"msg":"new version rejected","version":"` + version + `","deployment":"d-1","cause":"the function failed: {\"errorMessage\":\"no init\"}"`},
	} {
		var got string
		env := []string{"NEW_VERSION=" + version, "AWS_ENDPOINT_URL=" + lambdalocal.StartAPI(t, version, tt.invoke, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got += r.Header.Get("X-Amz-Target") + string(body)
			w.WriteHeader(tt.accepted)
			io.WriteString(w, "{}")
		})}
		e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: hook, Env: env, Timeout: reserve + tt.time})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Invoke(t.Context(), []byte(`{"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}`))
		e.Close() // which completes the log
		want := `CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus{"deploymentId":"d-1","lifecycleEventHookExecutionId":"e-1","status":"` + tt.status + `"}`
		if log := e.Stdout.String(); (err == nil) != (tt.accepted == 200) || got != want || !strings.Contains(log, tt.message) || strings.Count(log, "\n") != 1 {
			t.Errorf("error %v, CodeDeploy got %s, want %s; log %s, want %s", err, got, want, log, tt.message)
		}
	}
}

// With an invalid setting the init fails: a hook that exited with 0 would look as if it had
// run, while the deployment waits for its report.
func TestInvalidSetting(t *testing.T) {
	t.Parallel()
	hook, err := harness.Build("cmd/hook")
	if err != nil {
		t.Fatal(err)
	}
	e, err := lambdalocal.NewEnvironment(lambdalocal.Options{Binary: hook, Env: []string{"AWS_MAX_ATTEMPTS=many"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.WaitReady(t.Context())
	if line := e.Stderr.String(); err == nil || !strings.HasSuffix(err.Error(), "exit status 1") || !strings.Contains(line, "AWS_MAX_ATTEMPTS") {
		t.Errorf("%v, want exit status 1 and a line with the setting:\n%s", err, line)
	}
}

// Every cause of a failure may pass, and no answer of a version stops the hook from
// reporting in time.
func TestTry(t *testing.T) {
	const works, denied = `{"ok":true,"parts":{}}`, `{"ok":false,"parts":{"PlantTable":"index: AccessDeniedException: not authorized","http":"ok","keys":"no keys"}}`
	for name, tt := range map[string]struct {
		answers []string // the last one repeats; "" means no answer
		took    time.Duration
		err     string
	}{
		"works":                  {[]string{works}, 0, ""},
		"permissions apply late": {[]string{"AccessDeniedException", denied, works}, 4 * time.Second, ""},
		"permission is missing":  {[]string{denied}, 45 * time.Second, "PlantTable: index: AccessDeniedException: not authorized; keys: no keys"},
		"throttled":              {[]string{"TooManyRequestsException", works}, 2 * time.Second, ""},
		"no report":              {[]string{`{"ok":true}`}, 45 * time.Second, "answered"},
		"other names":            {[]string{`{"OK":true,"Parts":{}}`}, 45 * time.Second, "answered"},
		"hangs at last":          {[]string{denied, ""}, 45 * time.Second, "not authorized"},
		"hangs":                  {[]string{""}, 45 * time.Second, "deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := hook{function: answering(slices.Clone(tt.answers))}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // Timeout of HookFunction
			defer cancel()
			start := time.Now()
			err := h.try(ctx)
			if took := time.Since(start); took != tt.took || (err == nil) != (tt.err == "") || !strings.Contains(fmt.Sprint(err), tt.err) {
				t.Errorf("%s: took %v, want %v; error %v, want %q", name, took, tt.took, err, tt.err)
			}
		})
	}
}

// answering returns a client of Lambda whose function has the given answers, or
// fails with them if they are names of exceptions.
func answering(answers []string) *lambdaclient.Client {
	return lambdaclient.New(lambdaclient.Options{
		Region: "local", Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
		HTTPClient: smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			answer := answers[0]
			answers = answers[min(1, len(answers)-1):]
			if answer == "" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			w := httptest.NewRecorder()
			if strings.HasSuffix(answer, "Exception") {
				w.Header().Set("X-Amzn-Errortype", answer)
				w.WriteHeader(http.StatusForbidden)
				answer = "{}"
			}
			io.WriteString(w, answer)
			return w.Result(), nil
		}),
	})
}
