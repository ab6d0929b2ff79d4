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

	"example.com/plantstore/internal/logging"
)

// An event has only the fields that are needed: an unexpected type in any other
// field of [events.APIGatewayV2HTTPRequest] would make the event fail to decode.
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

	path   string      // encoded
	header http.Header // without Host
	host   string
}

// parse decodes and validates an event. It returns the event even with an error,
// since its request id may be known. Unlike encoding/json, it rejects invalid
// UTF-8, instead of replacing it by what the client never sent.
func parse(payload []byte) (*event, error) {
	e := new(event)
	if err := json.Unmarshal(payload, e); err != nil {
		return e, err
	}
	if e.Version != "2.0" {
		return e, fmt.Errorf("version is %s, not 2.0", logging.Quote(e.Version))
	}
	if !isToken(e.RequestContext.HTTP.Method) {
		return e, fmt.Errorf("invalid method %s", logging.Quote(e.RequestContext.HTTP.Method))
	}
	return e, errors.Join(e.parsePath(), e.parseHeader(), e.decodeBody())
}

// parsePath sets the path, encoded, since the adapter decodes it. An HTTP API and sam
// local have decoded it already: of /plants/1%2F2 they send /plants/1/2. A function URL,
// whose domain name contains .lambda-url., sends it as it is.
func (e *event) parsePath() error {
	if !strings.HasPrefix(e.RawPath, "/") {
		return errors.New("rawPath doesn't begin with a slash")
	}
	u := url.URL{Path: e.RawPath}
	if strings.Contains(e.RequestContext.DomainName, ".lambda-url.") {
		decoded, err := url.PathUnescape(e.RawPath)
		if err != nil {
			return err
		}
		u = url.URL{Path: decoded, RawPath: e.RawPath}
	}
	e.path = u.EscapedPath()
	return nil
}

// parseHeader sets header and host, validated as net/http does. The adapter
// would split most values at commas, and double the cookies of function URLs and
// sam local, which are in headers and in cookies.
func (e *event) parseHeader() error {
	e.header = make(http.Header, len(e.Headers)+1)
	for name, value := range e.Headers {
		key := http.CanonicalHeaderKey(name)
		if _, ok := e.header[key]; ok {
			return fmt.Errorf("duplicate header %s", logging.Quote(key))
		}
		e.header[key] = []string{value}
	}
	if len(e.Cookies) > 0 {
		e.header["Cookie"] = []string{strings.Join(e.Cookies, "; ")}
	}
	for key, values := range e.header {
		if !isToken(key) {
			return fmt.Errorf("invalid header name %s", logging.Quote(key))
		}
		if strings.ContainsFunc(values[0], isControl) {
			return fmt.Errorf("control character in the value of header %s", logging.Quote(key))
		}
	}
	e.host = cmp.Or(e.header.Get("Host"), e.RequestContext.DomainName)
	for _, name := range []string{"Host", core.APIGwContextHeader, core.APIGwStageVarsHeader} { // the last two are the adapter's
		e.header.Del(name)
	}
	return nil
}

// decodeBody replaces a base64 body by its decoded form.
func (e *event) decodeBody() error {
	if !e.IsBase64Encoded {
		return nil
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	e.Body = string(body)
	return nil
}

// forAdapter returns what the adapter converts as net/http would: the path and the body.
// It needs a valid domain name, too.
func (e *event) forAdapter() events.APIGatewayV2HTTPRequest {
	return events.APIGatewayV2HTTPRequest{
		RawPath:        e.path,
		Body:           e.Body,
		RequestContext: events.APIGatewayV2HTTPRequestContext{DomainName: "localhost"},
	}
}

// complete sets the rest on the adapter's request, as [net/http.Server] does.
func (e *event) complete(r *http.Request) {
	r.Method = e.RequestContext.HTTP.Method // the adapter's is in upper case
	r.URL.Scheme, r.URL.Host = "", ""
	r.URL.RawQuery = e.RawQueryString // the adapter refuses an invalid one, and cuts it off at a #
	r.RequestURI = r.URL.RequestURI()
	r.Header, r.Host = e.header, e.host
	r.RemoteAddr = net.JoinHostPort(e.RequestContext.HTTP.SourceIP, "0") // the client's port is unknown
}

// isToken reports whether s is a token, the syntax of methods and header names
// (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// isControl reports whether c is a control character that is invalid in the
// value of a header field.
func isControl(c rune) bool {
	return c < ' ' && c != '\t' || c == 0x7f
}
