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
// 766 of github.com/ministackorg/ministack. The decoded query and the list of cookies
// are missing, since the service doesn't use them.
func newEvent(r *http.Request, body []byte, requestID string) ([]byte, error) {
	rawPath, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	path, err := decodePath(rawPath)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	event := object{
		"version": "2.0", "routeKey": "$default",
		"rawPath": path, "rawQueryString": rawQuery,
		"headers": headers(r, len(body)),
		"requestContext": object{
			"accountId": "123456789012", "apiId": apiID, "domainName": domainName, "domainPrefix": apiID,
			"http": object{
				"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": sourceIP(r), "userAgent": r.UserAgent(),
			},
			"requestId": requestID, "routeKey": "$default", "stage": "$default",
			"time": now.Format("02/Jan/2006:15:04:05 +0000"), "timeEpoch": now.UnixMilli(),
		},
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

// headers returns the header fields, with names in lower case and several values
// joined by commas. API Gateway's own fields replace the client's. Fields about the
// client's address are missing, since the service doesn't use them.
func headers(r *http.Request, length int) map[string]string {
	all := make(map[string]string)
	for name, values := range r.Header {
		all[strings.ToLower(name)] = strings.Join(values, ",")
	}
	all["host"] = domainName
	all["content-length"] = fmt.Sprint(length)
	all["x-amzn-trace-id"] = newTraceID()
	return all
}
