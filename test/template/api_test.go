package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/test/openapi"
)

// safelisted are the response headers that every page may read.
// See https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name.
var safelisted = []string{"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Expires", "Last-Modified", "Pragma"}

// Pages of the given origins, and of no others, may use everything that the
// OpenAPI document describes.
func TestCORS(t *testing.T) {
	t.Parallel()
	const api = "PlantApi"
	if got := str(deploy(t, nil).Resources[api].Properties, "Body", "x-amazon-apigateway-cors"); got != "" {
		t.Errorf("template.yaml: without CorsOrigins the API has the CORS configuration %s", got)
	}
	s := deploy(t, map[string]string{"CorsOrigins": "https://a.example,https://b.example"})
	cors := at(s.Resources[api].Properties, "Body", "x-amazon-apigateway-cors")
	if got := str(cors, "allowOrigins"); got != `["https://a.example","https://b.example"]` || at(cors, "allowCredentials") != nil {
		t.Errorf("template.yaml: CORS allows the origins %s, with credentials: %v", got, at(cors, "allowCredentials"))
	}
	methods, requestHeaders, responseHeaders := documented(t)
	if slices.Contains(responseHeaders, "WWW-Authenticate") { // which API Gateway renames
		responseHeaders = append(responseHeaders, "x-amzn-remapped-www-authenticate")
	}
	for key, want := range map[string][]string{
		"allowMethods":  methods,
		"allowHeaders":  append(requestHeaders, "Authorization", "Content-Type"),
		"exposeHeaders": responseHeaders,
	} {
		for _, name := range want {
			if !slices.Contains(oneOrMore(at(cors, key)), name) {
				t.Errorf("%s: add %s to %s: api/openapi.yaml documents it", line(t, "CorsConfiguration:"), name, key)
			}
		}
	}
}

// documented returns the methods and headers of the OpenAPI document.
func documented(t *testing.T) (methods, requestHeaders, responseHeaders []string) {
	t.Helper()
	d := openapi.Read()
	for _, op := range append(d.Operations, d.Other) {
		if op != d.Other {
			methods = append(methods, op.Method)
		}
		for _, p := range op.Parameters {
			if p.In == "header" {
				requestHeaders = append(requestHeaders, p.Name)
			}
		}
		for _, resp := range op.Responses {
			for name := range resp.Headers {
				if !slices.Contains(safelisted, name) {
					responseHeaders = append(responseHeaders, name)
				}
			}
		}
	}
	return methods, requestHeaders, responseHeaders
}

// A line of the access log is a JSON object, whatever a client sends: API
// Gateway doesn't escape the values, so none may be the client's choice.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	settings := at(deploy(t, nil).Resources["PlantApiApiGatewayDefaultStage"].Properties, "AccessLogSettings")
	if arn := str(settings, "DestinationArn"); !strings.HasSuffix(arn, ":log-group:${AccessLogs}") {
		t.Errorf("template.yaml: DestinationArn of the access log is %s; with the suffix :* it shows as drift", arn)
	}
	format := str(settings, "Format")
	unsafe := regexp.MustCompile(`\$context\.(path|identity\.userAgent|domain\w+|customDomain)`)
	if v := unsafe.FindString(format); v != "" {
		t.Errorf("%s: remove it: clients choose the value", line(t, v))
	}
	var fields map[string]string
	if err := json.Unmarshal([]byte(regexp.MustCompile(`\$context\.[\w.]+`).ReplaceAllString(format, "x")), &fields); err != nil {
		t.Errorf("template.yaml: the access log is not JSON: %v", err)
	}
	if strings.Contains(format, "\n") {
		t.Errorf("template.yaml: an entry of the access log takes several lines")
	}
}
