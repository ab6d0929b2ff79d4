package lambdalocal

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The event of an HTTP API in payload format 2.0:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
//
// How a request becomes one was seen on real APIs by others: what was sent and
// what came is in vokerhttp/testdata of github.com/hotsock/voker (July 2026),
// for paths in ingress-paths.json, for all else in apigwv2-request.json; which
// bodies come in base64 is in github.com/ministackorg/ministack, pull request
// 766 (June 2026).
type event struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"`
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	RequestContext        requestContext    `json:"requestContext"`
	Body                  string            `json:"body,omitempty"`
	IsBase64Encoded       bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpContext `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"` // in milliseconds
}

type httpContext struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

const (
	apiID      = "a1b2c3d4e5"
	domainName = apiID + ".execute-api.eu-central-1.amazonaws.com"
)

// newEvent returns the event that r is with the given body and request id, or
// an error if an HTTP API would refuse it.
func newEvent(r *http.Request, body []byte, requestID string) (*event, error) {
	rawPath, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	path, err := decodePath(rawPath)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	e := &event{
		Version:               "2.0",
		RouteKey:              "$default",
		RawPath:               path,
		RawQueryString:        rawQuery, // as the client sent it
		QueryStringParameters: parameters(rawQuery),
		Cookies:               cookies(r.Header),
		Headers:               headers(r, len(body)),
		RequestContext: requestContext{
			AccountID: "123456789012", APIID: apiID, DomainName: domainName, DomainPrefix: apiID,
			HTTP: httpContext{
				Method: r.Method, Path: path, Protocol: r.Proto,
				SourceIP: sourceIP(r), UserAgent: latin1(r.UserAgent()),
			},
			RequestID: requestID, RouteKey: "$default", Stage: "$default",
			Time: now.Format("02/Jan/2006:15:04:05 +0000"), TimeEpoch: now.UnixMilli(),
		},
		Body: string(body),
	}
	if len(body) > 0 && !isText(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e, nil
}

// decodePath returns the path as an HTTP API gives it to a function: decoded,
// cut off at a question mark that comes to light, and decoded once more. Where
// that can't be done the client gets 400.
func decodePath(raw string) (string, error) {
	if !strings.HasPrefix(raw, "/") {
		return "", fmt.Errorf("%q is no path", raw)
	}
	once, err := url.PathUnescape(raw)
	if err != nil {
		return "", err
	}
	once, _, _ = strings.Cut(once, "?")
	return url.PathUnescape(once)
}

// headers returns the header fields by their names in lower case, those of one
// name joined by a comma. Of cookies there are none, and none that concern the
// connection to the API alone. What API Gateway sets replaces what the client
// sent, but for X-Forwarded-For, to which it adds.
func headers(r *http.Request, length int) map[string]string {
	all := make(map[string]string)
	for name, values := range r.Header {
		all[strings.ToLower(name)] = latin1(strings.Join(values, ","))
	}
	for _, name := range []string{"cookie", "connection", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"} {
		delete(all, name)
	}
	all["host"] = domainName
	all["content-length"] = fmt.Sprint(length)
	all["x-amzn-trace-id"] = newTraceID()
	all["x-forwarded-port"], all["x-forwarded-proto"] = "443", "https"
	if before := all["x-forwarded-for"]; before != "" {
		all["x-forwarded-for"] = before + ", " + sourceIP(r)
	} else {
		all["x-forwarded-for"] = sourceIP(r)
	}
	return all
}

// cookies returns the cookies as the client sent them, one by one.
func cookies(h http.Header) (all []string) {
	for _, line := range h["Cookie"] {
		for cookie := range strings.SplitSeq(line, ";") {
			if cookie = strings.TrimSpace(cookie); cookie != "" {
				all = append(all, latin1(cookie))
			}
		}
	}
	return all
}

// parameters returns the parameters of a query, decoded, those of one name
// joined by a comma. What can't be decoded is left out.
func parameters(rawQuery string) map[string]string {
	query, _ := url.ParseQuery(rawQuery)
	all := make(map[string]string, len(query))
	for name, values := range query {
		all[name] = strings.Join(values, ",")
	}
	return all
}

// isText reports whether a body of the given Content-Type comes as it is, and
// not in base64.
func isText(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	switch mediaType {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(mediaType, "text/")
}

// latin1 returns a header's value as text. What API Gateway does with bytes
// past ASCII isn't known; RFC 9110, section 5.5 has them as ISO 8859-1.
func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
