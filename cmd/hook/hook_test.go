package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	lambdaclient "github.com/aws/aws-sdk-go-v2/service/lambda"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

const newVersion = "arn:aws:lambda:eu-central-1:123456789012:function:plants:7"

func build(t *testing.T, program string) string {
	t.Helper()
	binary, err := lambdalocal.Build(program)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// here returns the options of the hook built for this machine.
func here(t *testing.T, env ...string) lambdalocal.Options {
	t.Helper()
	return lambdalocal.Options{Binary: build(t, "cmd/hook"), Env: env}
}

// runHook invokes the hook as CodeDeploy does, with the given API of Lambda. It
// returns the status that CodeDeploy got, the hook's log, and its error.
// https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html
func runHook(t *testing.T, o lambdalocal.Options, lambdaAPI http.HandlerFunc) (status, log string, err error) {
	t.Helper()
	lambda := httptest.NewServer(lambdaAPI)
	defer lambda.Close()
	codeDeploy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ DeploymentID, LifecycleEventHookExecutionID, Status string }
		err := json.NewDecoder(r.Body).Decode(&in)
		if err != nil || r.Header.Get("X-Amz-Target") != "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus" ||
			in.DeploymentID != "d-1" || in.LifecycleEventHookExecutionID != "e-1" {
			t.Errorf("CodeDeploy got %v %+v, %v", r.Header, in, err)
		}
		status += in.Status
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		io.WriteString(w, `{"lifecycleEventHookExecutionId": "e-1"}`)
	}))
	defer codeDeploy.Close()
	env := []string{"NEW_VERSION=" + newVersion, "AWS_ENDPOINT_URL_LAMBDA=" + lambda.URL, "AWS_ENDPOINT_URL_CODEDEPLOY=" + codeDeploy.URL}
	o.Env = append(env, o.Env...)
	hook, err := lambdalocal.NewEnvironment(o)
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	_, err = hook.Invoke(t.Context(), []byte(`{"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}`))
	hook.Close() // which completes the log
	return status, hook.Stdout() + hook.Stderr(), err
}

// function returns the API of Lambda for a function that invoke implements.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func function(t *testing.T, name string, invoke func(context.Context, []byte) ([]byte, error)) http.HandlerFunc {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", func(w http.ResponseWriter, r *http.Request) {
		if got := r.PathValue("name"); got != name {
			t.Errorf("function %s was invoked, want %s", got, name)
		}
		payload, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		response, err := invoke(context.WithoutCancel(r.Context()), payload)
		if err != nil {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			response = fmt.Appendf(nil, `{"errorMessage":%q}`, err)
		}
		w.Write(response)
	})
	return mux.ServeHTTP
}

// startFunction starts cmd/lambda, on DynamoDB Local and with valid settings
// unless env overrides them.
func startFunction(t *testing.T, env ...string) *lambdalocal.Function {
	t.Helper()
	valid := []string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + dynamolocal.Endpoint(t), "AWS_REGION=local", "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=hidden", "AWS_SESSION_TOKEN=hidden", "TOKEN_ISSUER=" + authtest.IssuerURL,
		"TOKEN_AUDIENCE=" + authtest.Audience, "TOKEN_JWKS=" + string(authtest.NewIssuer(t).JWKS()),
	}
	f := lambdalocal.NewFunction(lambdalocal.Options{Binary: build(t, "cmd/lambda"), Env: append(valid, env...)})
	t.Cleanup(f.Close)
	return f
}

// tableWithoutIndex creates a table, and deletes it when the test ends.
func tableWithoutIndex(t *testing.T) (name string) {
	t.Helper()
	in := dynamo.TableInput("test-" + rand.Text())
	in.AttributeDefinitions, in.GlobalSecondaryIndexes = in.AttributeDefinitions[:1], nil
	client := dynamodb.NewFromConfig(dynamolocal.Config(dynamolocal.Endpoint(t)))
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: in.TableName})
	})
	return *in.TableName
}

// The hook accepts a version of cmd/lambda that works, and rejects others with
// the reason in its log, but without the version's secrets.
func TestVersions(t *testing.T) {
	t.Parallel()
	_, table := dynamolocal.Table(t)
	noIndex := tableWithoutIndex(t)
	for name, tt := range map[string]struct{ env, status, log string }{
		"good":                 {"", "Succeeded", `"level":"INFO","msg":"new version accepted"`},
		"table is missing":     {"TABLE_NAME=no-such-table", "Failed", "table:ResourceNotFoundException"},
		"index is missing":     {"TABLE_NAME=" + noIndex, "Failed", "index:ValidationException"},
		"keys are unreachable": {"TOKEN_JWKS= TOKEN_JWKS_URL=http://user:hidden@127.0.0.1:1/keys", "Failed", "keys:fetching the token issuer's keys"},
		"invalid setting":      {"REQUIRE_SCOPES=maybe", "Failed", "the function failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFunction(t, append([]string{"TABLE_NAME=" + table}, strings.Fields(tt.env)...)...)
			status, log, err := runHook(t, here(t), function(t, newVersion, f.Invoke))
			if err != nil || status != tt.status || !strings.Contains(log, tt.log) || strings.Count(log, "\n") != 1 || strings.Contains(log, "hidden") {
				t.Errorf("status %s, want %s; log %s, want %s; error %v", status, tt.status, log, tt.log, err)
			}
		})
	}
}

// The answers of a version that works.
const (
	unauthorized = `{"statusCode":401,"body":"{\"error\":40100,\"message\":\"no token\"}"}`
	works        = `{"ok":true,"parts":{"table":"ok"}}`
	denied       = `{"ok":false,"parts":{"table":"AccessDeniedException: not authorized"}}`
)

// The hook rejects a version with other answers than those of cmd/lambda.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ request, check, status string }{
		"no token needed":        {`{"statusCode":200,"body":"[]"}`, works, "Failed"},
		"API Gateway's shape":    {`{"statusCode":401,"body":"{\"message\":\"Unauthorized\"}"}`, works, "Failed"},
		"no message":             {`{"statusCode":401,"body":"{\"error\":40100}"}`, works, "Failed"},
		"other status":           {strings.Replace(unauthorized, "401,", "403,", 1), works, "Failed"},
		"no JSON":                {"not JSON", works, "Failed"},
		"permissions apply late": {unauthorized, denied + "\n" + works, "Succeeded"},
		"a version without it":   {unauthorized, `{"statusCode":400,"body":"{\"error\":40000,\"message\":\"not an HTTP request\"}"}`, "Failed"},
		"the check has no parts": {unauthorized, `{}`, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checks := strings.Split(tt.check, "\n")
			status, log, err := runHook(t, here(t), function(t, newVersion, func(_ context.Context, payload []byte) ([]byte, error) {
				if !strings.Contains(string(payload), `"check"`) {
					return []byte(tt.request), nil
				}
				check := checks[0]
				checks = checks[min(1, len(checks)-1):]
				return []byte(check), nil
			}))
			if err != nil || status != tt.status {
				t.Errorf("status %s, want %s; error %v, log %s", status, tt.status, err, log)
			}
		})
	}
}

// The hook works as it is deployed by default.
func TestPackage(t *testing.T) {
	t.Parallel()
	status, log, err := runHook(t, lambdalocal.Package(t, "HookFunction"), function(t, newVersion, func(context.Context, []byte) ([]byte, error) {
		return []byte(unauthorized), nil
	}))
	if err != nil || status != "Failed" || !strings.Contains(log, `"cause":"the check failed: map[]"`) {
		t.Errorf("status %s, error %v, log %s", status, err, log)
	}
}

// The hook reports a version that it can't invoke. If it can't report either, its
// own invocation fails.
func TestRefused(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
	}
	status, log, err := runHook(t, here(t), refuse)
	if err != nil || status != "Failed" || !strings.Contains(log, "ResourceNotFoundException") {
		t.Errorf("status %s, error %v, log %s", status, err, log)
	}
	if _, log, err := runHook(t, here(t, "AWS_ENDPOINT_URL_CODEDEPLOY=http://127.0.0.1:1"), refuse); err == nil {
		t.Errorf("no error, log %s", log)
	}
}

// A version that hangs is rejected in time, and with the first reason.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		denied := false
		h := hook{function: lambdaclient.New(lambdaclient.Options{
			Region: "local", Credentials: aws.AnonymousCredentials{},
			HTTPClient: smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
				if denied {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				denied = true
				return &http.Response{StatusCode: 403, Header: http.Header{"X-Amzn-Errortype": {"AccessDeniedException"}}, Body: http.NoBody}, nil
			}),
		})}
		start := time.Now()
		err := h.try(t.Context())
		if took := time.Since(start); took != timeout || !strings.Contains(fmt.Sprint(err), "AccessDenied") {
			t.Errorf("took %v, error %v", took, err)
		}
	})
}
