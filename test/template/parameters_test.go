package template

import (
	"strings"
	"testing"
)

// account is in the ARNs of parameters, and nowhere else.
const account = "123456789012"

const (
	topic       = "arn:aws:sns:eu-central-1:" + account + ":alarms"
	certificate = "arn:aws:acm:eu-central-1:" + account + ":certificate/1"
)

// Other values than the default of the parameters without AllowedValues.
var otherValue = map[string]string{
	"TokenIssuer":     "https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0",
	"TokenAudience":   "1h57kf5cpq17m0eml12example,3n4b5urk1ft4fl3mg5e62d9ado", // clients of a Cognito user pool
	"TokenJwksUrl":    "https://a.example/discovery/v2.0/keys?appid=1",
	"ExistingTable":   "restored",
	"AlarmTopic":      topic,
	"CorsOrigins":     "https://a.example,http://localhost:3000",
	"ThrottlingRate":  "1",
	"ThrottlingBurst": "2",

	"DomainName":        "plants.example.com",
	"DomainCertificate": certificate,

	"PermissionsBoundary": "arn:aws:iam::" + account + ":policy/boundary",
}

// otherValues returns a value other than the default of each parameter.
func otherValues(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, p := range deploy(t, nil).Parameters {
		all[name] = otherValue[name]
		for _, v := range p.AllowedValues {
			if str(v) != str(p.Default) {
				all[name] = str(v)
			}
		}
		if all[name] == "" {
			t.Errorf("add a value of %s to otherValue in parameters_test.go", name)
		}
	}
	return all
}

// overrides returns parameters in the form of sam deploy --parameter-overrides.
func overrides(text string) map[string]string {
	parameters := map[string]string{}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		parameters[name] = strings.Trim(value, `\"`)
	}
	return parameters
}

// CloudFormation refuses invalid parameters before it changes anything, and
// says which. Those without a reason are valid.
func TestRefused(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]string{
		"AlarmTopic=" + topic + ".fifo":   "AlarmTopic", // alarms can't notify it
		"CorsOrigins=*":                   "",
		"CorsOrigins=https://a.example/":  "CorsOrigins", // an origin has no path
		"CorsOrigins=https://u@a.example": "CorsOrigins",
		// Browsers send no default port.
		"CorsOrigins=https://a.example:443,http://a.example:3000": "CorsOrigins",
		"CorsOrigins=https://a.example,http://[::1]:80":           "CorsOrigins",
		"CorsOrigins=https://a.example:80,http://a.example:443":   "",
		"ThrottlingRate=0":              "ThrottlingRate", // would stop the service
		"ThrottlingBurst=0":             "ThrottlingBurst",
		"LogRetention=2":                "LogRetention", // CloudWatch Logs doesn't know this period
		"ExistingTable=a/b":             "ExistingTable",
		"PermissionsBoundary=boundary":  "PermissionsBoundary",
		"DomainName=plants.example.com": "need each other",
		"DomainName=https://a.example/ DomainCertificate=" + certificate: "DomainName",
		"DomainName=plants.example.com DomainCertificate=" + topic:       "DomainCertificate",
		"DomainCertificate=" + certificate:                               "need each other",
		"DomainOnly=true":                                                "DomainOnly needs DomainName",

		// An issuer of one's own comes with its audience, and without what needs the pool.
		"TokenAudience=plants":                                             "need TokenIssuer",
		"TokenJwksUrl=https://a.example/keys":                              "need TokenIssuer",
		"TokenIssuer=https://a.example":                                    "TokenIssuer needs TokenAudience",
		"TokenIssuer=http://a.example TokenAudience=a":                     "TokenIssuer",
		"TokenIssuer=https://a|b TokenAudience=a":                          "TokenIssuer", // | is a separator in Description
		"TokenIssuer=https://a.example TokenAudience=a MachineClient=true": "MachineClient needs",
	} {
		s := do(t, job{Template: readFile(t, "template.yaml"), Parameters: overrides(parameters)})
		got := strings.Join(s.Refused, "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("template.yaml: %q is refused because of %q, want %q", parameters, got, want)
		}
	}
}

// Values that people really use are valid, and the description of a version has room for them:
// https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html.
func TestAccepted(t *testing.T) {
	t.Parallel()
	const maxDescription = 256
	const tenant = "11111111-2222-3333-4444-555555555555"
	const b2c = "https://contosocustomers.b2clogin.com/" + tenant
	for _, parameters := range []string{
		"AlarmTopic=arn:aws-cn:sns:cn-north-1:" + account + ":Plant_Alarms",
		"AlarmTopic=arn:aws-us-gov:sns:us-gov-west-1:" + account + ":alarms",
		"DomainName=plants.example DomainCertificate=arn:aws-cn:acm:cn-north-1:" + account + ":certificate/1",
		"DomainName=plants.example DomainCertificate=arn:aws-us-gov:acm:us-gov-west-1:" + account + ":certificate/1",
		"PermissionsBoundary=arn:aws-cn:iam::" + account + ":policy/teams/plants/Boundary",
		"PermissionsBoundary=arn:aws-us-gov:iam::aws:policy/PowerUserAccess",
		"CorsOrigins=https://a.example",
		"CorsOrigins=https://a.example:8443,https://b.example:8443,http://127.0.0.1:5173",
		"ExistingTable=Plants_2.restored-1",
		"TokenIssuer=https://a.example:8443/realms/plants TokenAudience=plants",
		// Azure AD B2C, with the longest URLs
		"RequireScopes=false TokenIssuer=" + b2c + "/v2.0/ TokenAudience=" + tenant +
			" TokenJwksUrl=" + b2c + "/b2c_1_susi/discovery/v2.0/keys",
		// Entra External ID, with the longest name of a tenant
		"TokenIssuer=https://" + tenant + ".ciamlogin.com/" + tenant + "/v2.0 TokenAudience=" + tenant + ",api://plants",
		"ThrottlingRate=500 ThrottlingBurst=2000",
		"ThrottlingRate=10000 ThrottlingBurst=5000",
		"LogRetention=14", "LogRetention=90", "LogRetention=180", "LogRetention=3653",
		"LogLevel=debug", "LogLevel=warn", "LogLevel=error",
		"Deployment=Canary10Percent30Minutes", "Deployment=Linear10PercentEvery1Minute",
	} {
		description := strings.Replace(deploy(t, overrides(parameters)).description(), "unknown", "09d7e83+.261123061200", 1)
		if len(description) > maxDescription {
			t.Errorf("template.yaml: with %s the description has %d characters, and Lambda takes %d: %s",
				parameters, len(description), maxDescription, description)
		}
	}
}
