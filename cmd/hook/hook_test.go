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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

// runHook runs [runProgram] with the hook built for this machine.
func runHook(t *testing.T, lambdaAPI, codeDeployAPI http.HandlerFunc) (log string, err error) {
	t.Helper()
	return runProgram(t, lambdalocal.Options{Binary: build(t, "cmd/hook")}, lambdaAPI, codeDeployAPI)
}

// runProgram invokes the hook as CodeDeploy does, and returns its log and its
// error. The handlers are the APIs of Lambda and CodeDeploy.
func runProgram(t *testing.T, o lambdalocal.Options, lambdaAPI, codeDeployAPI http.HandlerFunc) (log string, err error) {
	t.Helper()
	lambda, codeDeploy := httptest.NewServer(lambdaAPI), httptest.NewServer(codeDeployAPI)
	defer lambda.Close()
	defer codeDeploy.Close()
	o.Env = []string{"NEW_VERSION=" + newVersion, "AWS_ENDPOINT_URL_LAMBDA=" + lambda.URL, "AWS_ENDPOINT_URL_CODEDEPLOY=" + codeDeploy.URL}
	hook, err := lambdalocal.NewEnvironment(o)
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	_, err = hook.Invoke(t.Context(), []byte(`{"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}`))
	hook.Close() // which completes the log
	return hook.Stdout() + hook.Stderr(), err
}

// status returns the API of CodeDeploy, which stores the reported status.
// https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html
func status(t *testing.T, reported *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ DeploymentID, LifecycleEventHookExecutionID, Status string }
		err := json.NewDecoder(r.Body).Decode(&in)
		if err != nil || r.Header.Get("X-Amz-Target") != "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus" ||
			in.DeploymentID != "d-1" || in.LifecycleEventHookExecutionID != "e-1" {
			t.Errorf("CodeDeploy got %v %+v, %v", r.Header, in, err)
		}
		*reported += in.Status
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		io.WriteString(w, `{"lifecycleEventHookExecutionId": "e-1"}`)
	}
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
		"good":                    {"", "Succeeded", `"level":"INFO","msg":"new version accepted"`},
		"table is missing":        {"TABLE_NAME=no-such-table", "Failed", "table:ResourceNotFoundException"},
		"index is missing":        {"TABLE_NAME=" + noIndex, "Failed", "index:ValidationException"},
		"keys are unreachable":    {"TOKEN_JWKS= TOKEN_JWKS_URL=http://user:hidden@127.0.0.1:1/keys", "Failed", "keys:fetching the token issuer's keys"},
		"DynamoDB is unreachable": {"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "Failed", "index:operation error DynamoDB: Query"},
		"invalid setting":         {"REQUIRE_SCOPES=maybe", "Failed", "the function failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFunction(t, append([]string{"TABLE_NAME=" + table}, strings.Fields(tt.env)...)...)
			var reported string
			log, err := runHook(t, function(t, newVersion, f.Invoke), status(t, &reported))
			if err != nil || reported != tt.status || !strings.Contains(log, tt.log) || strings.Count(log, "\n") != 1 || strings.Contains(log, "hidden") {
				t.Errorf("reported %s, want %s; log %s, want %s; error %v", reported, tt.status, log, tt.log, err)
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
		"good":                   {unauthorized, works, "Succeeded"},
		"no token needed":        {`{"statusCode":200,"body":"[]"}`, works, "Failed"},
		"API Gateway's shape":    {`{"statusCode":401,"body":"{\"message\":\"Unauthorized\"}"}`, works, "Failed"},
		"no message":             {`{"statusCode":401,"body":"{\"error\":40100}"}`, works, "Failed"},
		"other status":           {strings.Replace(unauthorized, "401,", "403,", 1), works, "Failed"},
		"no JSON":                {"not JSON", works, "Failed"},
		"a part is broken":       {unauthorized, `{"ok":false,"parts":{"table":"broken"}}`, "Failed"},
		"permissions apply late": {unauthorized, denied + "\n" + works, "Succeeded"},
		"a version without it":   {unauthorized, `{"statusCode":400,"body":"{\"error\":40000,\"message\":\"not an HTTP request\"}"}`, "Failed"},
		"the check has no parts": {unauthorized, `{}`, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reported string
			checks := strings.Split(tt.check, "\n")
			log, err := runHook(t, function(t, newVersion, func(_ context.Context, payload []byte) ([]byte, error) {
				if !strings.Contains(string(payload), `"check"`) {
					return []byte(tt.request), nil
				}
				check := checks[0]
				checks = checks[min(1, len(checks)-1):]
				return []byte(check), nil
			}), status(t, &reported))
			if err != nil || reported != tt.status {
				t.Errorf("reported %s, want %s; error %v, log %s", reported, tt.status, err, log)
			}
		})
	}
}

// The hook works as it is deployed by default.
func TestPackage(t *testing.T) {
	t.Parallel()
	var reported string
	log, err := runProgram(t, lambdalocal.Package(t, "HookFunction"), function(t, newVersion, func(context.Context, []byte) ([]byte, error) {
		return []byte(unauthorized), nil
	}), status(t, &reported))
	if err != nil || reported != "Failed" || !strings.Contains(log, `"cause":"the check failed: map[]"`) {
		t.Errorf("reported %s, error %v, log %s", reported, err, log)
	}
}

// The hook reports a version that it can't invoke. If it can't report either, its
// own invocation fails.
func TestRefused(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"message":"refused"}`)
	}
	var reported string
	log, err := runHook(t, refuse, status(t, &reported))
	if err != nil || reported != "Failed" || !strings.Contains(log, "ResourceNotFoundException") {
		t.Errorf("reported %s, error %v, log %s", reported, err, log)
	}
	if log, err := runHook(t, refuse, refuse); err == nil {
		t.Errorf("no error, log %s", log)
	}
}
