package lambdahttp

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/go-json-experiment/json"
)

// An event is what is needed of an HTTP request in payload format 2.0. What is
// not needed is not decoded: events.APIGatewayV2HTTPRequest has types for all
// of it, and an event that breaks one would not be decoded at all.
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

	path   url.URL     // of the request, nothing but the path
	header http.Header // of the request, without Host
	host   string
}

// noRequest stands for the request of an event that has none.
func noRequest() *event {
	e := &event{path: url.URL{Path: "/"}, header: make(http.Header)}
	e.RequestContext.HTTP.Method = http.MethodGet
	return e
}

// parse decodes an event and checks all that the adapter takes on trust. With
// an error it still returns an event, for what is known of its request id.
//
// The decoder refuses bytes that are not UTF-8, which encoding/json replaces: a
// body would pass that the client never sent.
func parse(payload []byte) (*event, error) {
	e := new(event)
	if err := json.Unmarshal(payload, e); err != nil {
		return e, err
	}
	if e.Version != "2.0" {
		return e, fmt.Errorf("its version is %.16q, not 2.0", e.Version)
	}
	if !isToken(e.RequestContext.HTTP.Method) {
		return e, fmt.Errorf("%.16q is no HTTP method", e.RequestContext.HTTP.Method)
	}
	if err := errors.Join(e.parsePath(), e.parseHeader(), e.decodeBody()); err != nil {
		return e, err
	}
	return e, nil
}

// parsePath reads the path of the request. In an event of an HTTP API, and in
// those of sam local, the path is decoded already; in an event of a function
// URL it is as the client sent it. Of the two only a function URL has
// .lambda-url. in its domain name.
func (e *event) parsePath() error {
	if !strings.HasPrefix(e.RawPath, "/") {
		return errors.New("its rawPath does not begin with a slash")
	}
	e.path.Path = e.RawPath
	if !strings.Contains(e.RequestContext.DomainName, ".lambda-url.") {
		return nil
	}
	decoded, err := url.PathUnescape(e.RawPath)
	if err != nil {
		return err
	}
	e.path.Path, e.path.RawPath = decoded, e.RawPath
	return nil
}

// parseHeader builds the header of the request, checked as net/http does.
// Values are taken whole: the adapter splits most at commas, be they a list or
// a person's own words. Cookies are taken once: a function URL and sam local
// send them as a header, too, and the adapter adds both.
func (e *event) parseHeader() error {
	e.header = make(http.Header, len(e.Headers)+1)
	for name, value := range e.Headers {
		key := http.CanonicalHeaderKey(name)
		if _, ok := e.header[key]; ok {
			return fmt.Errorf("it has the header %.64q twice", key)
		}
		e.header[key] = []string{value}
	}
	if len(e.Cookies) > 0 && e.header["Cookie"] == nil {
		e.header["Cookie"] = []string{strings.Join(e.Cookies, "; ")}
	}
	for key, values := range e.header {
		if !isToken(key) {
			return fmt.Errorf("%.64q is no header name", key)
		}
		if strings.ContainsFunc(values[0], isControl) {
			return fmt.Errorf("the value of its header %.64q has a control character", key)
		}
	}
	e.host = cmp.Or(e.header.Get("Host"), e.RequestContext.DomainName)
	e.header.Del("Host")
	// Where the adapter can put data of its own, for a handler to trust. It
	// doesn't here, so what is there was sent by the client.
	e.header.Del(core.APIGwContextHeader)
	e.header.Del(core.APIGwStageVarsHeader)
	return nil
}

// decodeBody makes Body the body itself.
func (e *event) decodeBody() error {
	if !e.IsBase64Encoded {
		return nil
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	e.Body, e.IsBase64Encoded = string(body), false
	return nil
}

// forAdapter returns the event as the adapter can take it without fault: with
// the path encoded, since the adapter decodes it, a domain name that is valid
// in a URL, and without what complete sets.
func (e *event) forAdapter() events.APIGatewayV2HTTPRequest {
	return events.APIGatewayV2HTTPRequest{
		RawPath: e.path.EscapedPath(),
		Body:    e.Body,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			DomainName: "localhost",
			RequestID:  e.RequestContext.RequestID,
			HTTP:       events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: e.RequestContext.HTTP.Method},
		},
	}
}

// complete sets in the request that the adapter made what the adapter doesn't
// get right, as [net/http.Server] does:
//
//   - the method, which the adapter puts in capitals
//   - the query, byte for byte, with whatever is wrong in it: the adapter
//     parses it, and a # ends it
//   - the URL, which is path and query alone
//   - the header, and the host, which is not in it
//   - the address, with a port: the client's isn't known, so it is 0
func (e *event) complete(r *http.Request) {
	r.Method = e.RequestContext.HTTP.Method
	r.URL.Scheme, r.URL.Host = "", ""
	r.URL.RawQuery = e.RawQueryString
	r.RequestURI = r.URL.RequestURI()
	r.Header = e.header
	r.Host = e.host
	r.RemoteAddr = net.JoinHostPort(e.RequestContext.HTTP.SourceIP, "0")
}

// isToken reports whether s is a token as in RFC 9110, section 5.6.2: what
// methods and header names are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// isControl reports whether a header's value must not have c in it.
func isControl(c rune) bool {
	return c < ' ' && c != '\t' || c == 0x7f
}
