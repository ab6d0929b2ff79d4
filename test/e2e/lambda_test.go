package e2e

import (
	"slices"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/tools"
)

// TestLambda runs the suite on cmd/lambda behind an HTTP API, on DynamoDB Local.
// Package lambdahttp tests events that are not HTTP requests.
func TestLambda(t *testing.T) {
	t.Parallel()
	issuer := authtest.NewIssuer(t)
	testFunction(t, issuer, functionOptions(t, dynamolocal.Endpoint(t), staticKeys(issuer)))
}

// TestPackage does the same with the package that is deployed by default.
func TestPackage(t *testing.T) {
	t.Parallel()
	built, issuer := lambdalocal.Package(t, "PlantFunction"), authtest.NewIssuer(t)
	o := functionOptions(t, dynamolocal.Endpoint(t), staticKeys(issuer))
	o.Binary = built.Binary
	testFunction(t, issuer, o)
}

func testFunction(t *testing.T, issuer *authtest.Issuer, o lambdalocal.Options) {
	t.Helper()
	f := startFunction(t, issuer, o)
	Run(t, f.target())
}

// A function is cmd/lambda behind an HTTP API.
type function struct {
	*lambdalocal.Environment
	issued
	base   string
	issuer *authtest.Issuer
}

// staticKeys returns the variable that contains the keys of the issuer.
func staticKeys(issuer *authtest.Issuer) string {
	return config.TokenJWKS + "=" + string(issuer.JWKS())
}

// functionOptions returns the options of a function with a new table in DynamoDB
// Local, which it reaches at the given endpoint. It trusts issuers of package
// authtest; keys is the variable that says where their keys are.
func functionOptions(t *testing.T, endpoint, keys string, env ...string) lambdalocal.Options {
	t.Helper()
	path, err := tools.Build("cmd/lambda")
	if err != nil {
		t.Fatal(err)
	}
	_, table := dynamolocal.Table(t)
	return lambdalocal.Options{Binary: path, Env: slices.Concat(dynamolocal.Environ(endpoint, table), trust(keys), env)}
}

// startFunction starts the function. When the test ends, it checks that there
// was no Lambda error, and checks the log.
func startFunction(t *testing.T, issuer *authtest.Issuer, o lambdalocal.Options) *function {
	t.Helper()
	f := &function{issuer: issuer}
	t.Cleanup(func() { // after the function has ended
		f.checkLog(t, f.Stdout.String())
		if text := f.Stderr.String(); text != "" {
			t.Errorf("on standard error:\n%.5000s", text)
		}
	})
	f.Environment, f.base = lambdalocal.Start(t, o)
	return f
}

// target returns the function as a [Target].
func (f *function) target() Target {
	target := httpAPI.target(f.base, func(_ testing.TB, r TokenRequest) string { return f.keep(sign(f.issuer, r)) })
	target.Lag = dynamoLag
	return target
}

// user returns a client of the function, and the token of a new user.
func (f *function) user() (c *client, token string) {
	return newClient(f.target()), f.keep(f.issuer.Token(newSubject()))
}
