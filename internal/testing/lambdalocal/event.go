package lambdalocal

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	apiID      = "a1b2c3d4e5"
	domainName = apiID + ".execute-api.eu-central-1.amazonaws.com"
)

type object = map[string]any

// newEvent returns the event, in payload format 2.0, that an HTTP API creates from
// the request r with the given body. It returns an error if an HTTP API would
// reject the request.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
//
// Where the documentation is silent, events follow captures from real APIs:
// github.com/hotsock/voker, vokerhttp/testdata, and for bodies in base64 pull request
// 766 of github.com/ministackorg/ministack.
func newEvent(r *http.Request, body []byte, requestID string) ([]byte, error) {
	rawPath, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	path, err := decodePath(rawPath)
	if err != nil {
		return nil, err
	}
	event := object{
		"version": "2.0", "routeKey": "$default",
		"rawPath": path, "rawQueryString": rawQuery, "queryStringParameters": query(rawQuery),
		"cookies": cookies(r), "headers": headers(r, len(body)),
		"pathParameters": nil, "stageVariables": nil,
		"requestContext":  requestContext(r, path, requestID),
		"isBase64Encoded": false,
	}
	switch {
	case len(body) == 0:
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"): // among others
		event["body"] = string(body)
	default:
		event["body"], event["isBase64Encoded"] = base64.StdEncoding.EncodeToString(body), true
	}
	return json.Marshal(event)
}

// requestContext describes the request. It leaves out what an API without client certificates and
// authorizer fills with empty values.
func requestContext(r *http.Request, path, requestID string) object {
	now := time.Now().UTC()
	return object{
		"accountId": "123456789012", "apiId": apiID, "domainName": domainName, "domainPrefix": apiID,
		"http": object{
			"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": sourceIP(r), "userAgent": r.UserAgent(),
		},
		"requestId": requestID, "routeKey": "$default", "stage": "$default",
		"time": now.Format("02/Jan/2006:15:04:05 +0000"), "timeEpoch": now.UnixMilli(),
	}
}

// decodePath returns the path that a function gets from an HTTP API. The API decodes
// the path, cuts it off at a question mark, and decodes it again. If decoding fails,
// the client gets 400.
func decodePath(raw string) (string, error) {
	if !strings.HasPrefix(raw, "/") {
		return "", fmt.Errorf("invalid path %q", raw)
	}
	once, err := url.PathUnescape(raw)
	if err != nil {
		return "", err
	}
	once, _, _ = strings.Cut(once, "?")
	return url.PathUnescape(once)
}

// query returns the decoded parameters, several values joined by commas, or nil without
// parameters.
func query(raw string) (all map[string]string) {
	values, _ := url.ParseQuery(raw) // without malformed pairs
	for name, v := range values {
		if all == nil {
			all = make(map[string]string)
		}
		all[name] = strings.Join(v, ",")
	}
	return all
}

// cookies returns the list of cookies, which aren't among the headers.
func cookies(r *http.Request) []string {
	if all := r.Header.Get("Cookie"); all != "" {
		return strings.Split(all, "; ")
	}
	return nil
}

// headers returns the header fields, with names in lower case and several values
// joined by commas. API Gateway's own fields replace the client's.
func headers(r *http.Request, length int) map[string]string {
	all := make(map[string]string)
	for name, values := range r.Header {
		all[strings.ToLower(name)] = strings.Join(values, ",")
	}
	delete(all, "cookie")
	all["host"] = domainName
	all["content-length"] = fmt.Sprint(length)
	all["x-amzn-trace-id"] = newTraceID()
	all["x-forwarded-for"], all["x-forwarded-port"], all["x-forwarded-proto"] = sourceIP(r), "443", "https"
	return all
}
