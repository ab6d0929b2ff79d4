package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/lambdalocal"
)

// What can't pass behind an API Gateway HTTP API, whatever the function does.
const (
	decodedTwice = "an HTTP API decodes a path twice: the function sees the path of another request"
	cutOff       = "an HTTP API cuts a path off at an encoded question mark: the function sees the path of another request"
	badPath      = "an HTTP API refuses a path that it can't decode twice, with an answer of its own"
	noSpace      = "an HTTP API joins the values of a header by a comma alone, and the message repeats the header"
)

var lambdaLacks = map[string]string{
	"routes: /plants%252F1":             decodedTwice,
	"routes: /plants%3Flimit=1":         cutOff,
	"delete: %2531":                     decodedTwice,
	"delete: 1%252F2":                   decodedTwice,
	"delete: 1%3F":                      cutOff,
	"delete: 1%25":                      badPath,
	"create-media: Two types are none.": noSpace,
}

// The suite, on cmd/lambda, behind an HTTP API, on DynamoDB Local.
func TestLambda(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	f := startFunction(t, issuer, functionOptions(t, dynamolocal.Endpoint(t), "TOKEN_JWKS="+string(issuer.JWKS())))
	target := f.target()
	target.Lag = dynamoLag
	target.Lacks = lambdaLacks
	Run(t, target)
	if n := len(f.Environments()); n != 4 {
		t.Errorf("the suite ran in %d processes, want 4 that live on", n)
	}
}

// A function is cmd/lambda behind an HTTP API.
type function struct {
	*lambdalocal.Function
	base   string
	issuer *authtest.Issuer
	mu     sync.Mutex
	tokens []string // that were made for it
}

// functionOptions returns the settings of a function that has a table of its own
// in DynamoDB Local, which it reaches at the given endpoint. It trusts issuers of
// package authtest; env has to say where their keys are.
func functionOptions(t *testing.T, endpoint string, env ...string) lambdalocal.Options {
	t.Helper()
	path, err := lambdalocal.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	table := "e2e-" + cryptorand.Text()
	if err := dynamo.EnsureTable(t.Context(), dynamolocal.Client(t, dynamolocal.Endpoint(t)), table); err != nil {
		t.Fatal(err)
	}
	// Of what programs on DynamoDB Local are given, all but this machine's own.
	all := slices.DeleteFunc(dynamolocal.Environ(endpoint, table), func(kv string) bool {
		return !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, "TABLE_NAME=")
	})
	all = append(all, "TOKEN_ISSUER="+authtest.IssuerURL, "TOKEN_AUDIENCE=other, "+authtest.Audience)
	return lambdalocal.Options{Binary: path, Env: append(all, env...), Concurrency: 4}
}

// startFunction starts the function. In the end it checks what must hold of all
// that it wrote: see checkOutput, and no Lambda error was made.
func startFunction(t *testing.T, issuer *authtest.Issuer, o lambdalocal.Options) *function {
	t.Helper()
	f := &function{issuer: issuer}
	t.Cleanup(func() { f.checkOutput(t) }) // after the function has ended
	f.Function, f.base = lambdalocal.Start(t, o)
	return f
}

// target returns the function as a Target of the suite.
func (f *function) target() Target {
	return Target{Base: f.base, Token: f.token, Observe: documentedBehindHTTPAPI()}
}

func (f *function) token(_ testing.TB, r TokenRequest) string {
	claims := authtest.Claims(r.Subject, r.Scopes...)
	if r.Expired {
		claims["exp"] = time.Now().Add(-time.Hour).Unix()
	}
	return f.keep(f.issuer.Sign(claims))
}

// keep remembers a token that must not come to light.
func (f *function) keep(token string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = append(f.tokens, token)
	return token
}

// checkOutput checks that each line that the function wrote is JSON, that none
// holds a token, and that the function itself hasn't gone wrong.
func (f *function) checkOutput(t *testing.T) {
	if text := f.Stderr(); text != "" {
		t.Errorf("on standard error the function wrote\n%.5000s", text)
	}
	log := f.Stdout()
	for text := range strings.Lines(log) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("a line of the log is not JSON: %s", text)
		}
		if line["level"] == nil || line["msg"] == nil || line["time"] == nil {
			t.Errorf("a line of the log says too little: %s", text)
		}
		if line["stack"] != nil {
			t.Errorf("the function panicked: %s", text)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, token := range f.tokens {
		if i := strings.LastIndexByte(token, '.'); strings.Contains(log, token[i:]) {
			t.Errorf("the log holds a token")
		}
	}
}
