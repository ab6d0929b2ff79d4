package template

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

// PermissionsBoundary applies to every role, that of SAM's resources too.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const boundary = "arn:aws:iam::123456789012:policy/boundary"
	for name, r := range deploy(t, overrides("PermissionsBoundary="+boundary)).Resources {
		if r.Type == "AWS::IAM::Role" && str(r.Properties, "PermissionsBoundary") != boundary {
			t.Errorf("template.yaml: %s has no PermissionsBoundary", name)
		}
	}
}

// Pages of the given origins, and of no others, may use everything that the
// OpenAPI document describes.
func TestCORS(t *testing.T) {
	t.Parallel()
	if got := str(deploy(t, nil).Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors"); got != "" {
		t.Errorf("template.yaml: without CorsOrigins the API has the CORS configuration %s", got)
	}
	s := deploy(t, overrides("CorsOrigins=https://a.example,https://b.example"))
	cors := at(s.Resources["PlantApi"].Properties, "Body", "x-amazon-apigateway-cors")
	if got := str(cors, "allowOrigins"); got != `["https://a.example","https://b.example"]` || at(cors, "allowCredentials") != nil {
		t.Errorf("template.yaml: CORS allows the origins %s, with credentials: %v", got, at(cors, "allowCredentials"))
	}
	use := map[string]bool{"Authorization": true, "Content-Type": true}
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		use[op.Method] = op != d.Other
		for _, p := range op.Parameters {
			use[p.Name] = p.In == "header"
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				use[name] = name != "Cache-Control" && name != "X-Content-Type-Options" // pages may read the one, and needn't read the other
			}
		}
	}
	for name, used := range use {
		if used && !strings.Contains(str(cors), `"`+name+`"`) {
			t.Errorf("template.yaml: add %s to CorsConfiguration: api/openapi.yaml documents it", name)
		}
	}
}

// Clients can't forge lines of the access log: API Gateway doesn't escape values.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	format := str(deploy(t, nil).Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings", "Format")
	if v := regexp.MustCompile(`\$context\.(path|identity\.userAgent|domain\w+|customDomain)`).FindString(format); v != "" || !json.Valid([]byte(format)) {
		t.Errorf("template.yaml: the format of the access log is not JSON, or has %q, which clients choose: %s", v, format)
	}
}
