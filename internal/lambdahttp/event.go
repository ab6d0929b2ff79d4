package lambdahttp

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/plantstore/internal/excerpt"
)

// An event is an HTTP request in payload format 2.0. It contains only the fields that are
// used, so that an unexpected type in another field does no harm.
type event struct {
	Version         string            `json:"version"`
	RawPath         string            `json:"rawPath"`
	RawQueryString  string            `json:"rawQueryString"`
	Cookies         []string          `json:"cookies"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
	RequestContext  struct {
		DomainName string `json:"domainName"`
		RequestID  string `json:"requestId"`
		HTTP       struct {
			Method   string `json:"method"`
			SourceIP string `json:"sourceIp"`
		} `json:"http"`
	} `json:"requestContext"`

	url url.URL
}

// parse decodes an event. Unlike version 1 of encoding/json, it rejects invalid UTF-8,
// instead of replacing it with something the client never sent. Even after an error, the
// event may contain its request id.
func (e *event) parse(payload []byte) error {
	if err := json.Unmarshal(payload, e); err != nil {
		return err
	}
	method := e.RequestContext.HTTP.Method
	if e.Version != "2.0" || method == "" || !strings.HasPrefix(e.RawPath, "/") {
		return fmt.Errorf("version %s, method %s, rawPath %s", excerpt.Quote(e.Version), excerpt.Quote(method), excerpt.Quote(e.RawPath))
	}
	if e.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(e.Body)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		e.Body = string(body)
	}
	// An HTTP API and sam local have decoded the path: for /plants/1%2F2 they send
	// /plants/1/2. A function URL sends it as the client did.
	e.url.Path = e.RawPath
	if strings.Contains(e.RequestContext.DomainName, ".lambda-url.") {
		u, err := url.ParseRequestURI(e.RawPath)
		if err != nil {
			return err
		}
		e.url = *u
	}
	e.url.RawQuery = e.RawQueryString
	return nil
}

// complete sets everything except the body on the adapter's request, as
// [net/http.Server] does. The adapter decodes the path twice, splits header values at
// commas, and doubles cookies, which function URLs and sam local also send as a header.
func (e *event) complete(r *http.Request) {
	r.Method = e.RequestContext.HTTP.Method
	r.URL = &e.url
	r.RequestURI = e.url.RequestURI()
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	if len(e.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	r.Host = cmp.Or(r.Header.Get("Host"), e.RequestContext.DomainName)
	r.Header.Del("Host")
	r.RemoteAddr = net.JoinHostPort(e.RequestContext.HTTP.SourceIP, "0") // the client's port is unknown
}
