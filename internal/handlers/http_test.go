package handlers_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/openapi"
)

// TestHTTP sends the exchanges of all rules to a service over HTTP. Each must also conform
// to api/openapi.yaml, and everything in the document must occur.
func TestHTTP(t *testing.T) {
	document, issuer := openapi.Read(), authtest.NewIssuer(t)
	tokens := newTokens(issuer)
	for _, r := range rules {
		t.Run(r.title, func(t *testing.T) {
			address := r.serve(t, issuer)
			n := 0
			for _, e := range r.exchanges {
				for _, e := range e.expand() {
					n++
					e.body = strings.ReplaceAll(e.body, "{n}", fmt.Sprint(n))
					if err := e.run(address, tokens, document); err != nil {
						t.Errorf("%.200s\n%s\n%q\n%.300q\n%v", e.request, e.auth, e.headers, e.body, err)
					}
				}
			}
		})
	}
	if !t.Failed() {
		for _, missing := range document.Missing() {
			t.Error(missing)
		}
	}
}

// rules are the rules that the files http_*_test.go add.
var rules []rule

// add adds rules, before any test runs.
func add(some []rule) bool {
	rules = append(rules, some...)
	return true
}

// newTokens returns a replacer for the names of tokens, in angle brackets.
func newTokens(issuer *authtest.Issuer) *strings.Replacer {
	expired := authtest.Claims("alice")
	expired["exp"] = time.Now().Add(-time.Hour).Unix()
	alice := issuer.Token("alice", handlers.Scopes()...)
	signature := alice[strings.LastIndexByte(alice, '.')+1:]
	return strings.NewReplacer(
		"<alice>", alice,
		"<bob>", issuer.Token("bob", handlers.Scopes()...),
		"<reader>", issuer.Token("alice", "plants/read"),
		"<writer>", issuer.Token("alice", "plants/write"),
		"<nobody>", issuer.Token("alice", "plants:read"),
		"<expired>", issuer.Sign(expired),
		"<forged>", strings.TrimSuffix(alice, signature)+strings.Repeat("A", len(signature)),
	)
}

// serve starts the service and returns its address.
func (r rule) serve(t *testing.T, issuer *authtest.Issuer) string {
	var store plants.Store
	if !r.broken {
		store = &plantstest.Memory{Err: r.fault}
	}
	verifier := issuer.Verifier(t, auth.Config{KeysURL: r.keysURL}, handlers.Scopes()...)
	server := httptest.NewUnstartedServer(handlers.New(store, verifier, slog.New(slog.DiscardHandler)))
	server.Config.ReadTimeout = r.readTimeout
	server.Config.DisableGeneralOptionsHandler = true // as in cmd/local
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// always are headers of every response from the service.
var always = []string{"Cache-Control: no-store", "X-Content-Type-Options: nosniff"}

// run sends the request and checks the response.
func (e exchange) run(address string, tokens *strings.Replacer, document *openapi.Document) error {
	head := tokens.Replace(e.head())
	resp, body, err := e.send(address, head)
	if err != nil {
		return err
	}
	matches := body == e.want || e.want == anything+"\n" || e.begins && strings.HasPrefix(body, e.want)
	if resp.StatusCode != e.status || !matches {
		return fmt.Errorf(" got %d %.1000s\nwant %d %.1000s", resp.StatusCode, body, e.status, e.want)
	}
	has := e.has
	if !e.byGo {
		has = slices.Concat(has, always)
	}
	for _, header := range has {
		name, want, _ := strings.Cut(header, ": ")
		if got := resp.Header.Values(name); !slices.Equal(got, []string{want}) {
			return fmt.Errorf("the header %s is %q, want %q", name, got, want)
		}
	}
	for _, name := range e.lacks {
		if got := resp.Header.Values(name); got != nil {
			return fmt.Errorf("the header %s is %q, want none", name, got)
		}
	}
	if e.byGo {
		return nil
	}
	if resp.Header.Get("X-Request-Id") == "" {
		return fmt.Errorf("there is no X-Request-Id")
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
	if err != nil {
		return err
	}
	err = document.Validate(req, []byte(e.body), resp, []byte(body))
	switch refused := errors.Is(err, openapi.ErrRefused); {
	case refused && e.inWords:
		return nil
	case refused:
		return fmt.Errorf("%w: add the rule to its schema or, if no schema can express it, inWordsOnly here", err)
	case e.inWords:
		return fmt.Errorf("%v, want %v: a schema now has the rule, so remove inWordsOnly", err, openapi.ErrRefused)
	}
	return err
}

// head returns the request up to the body.
func (e exchange) head() string {
	lines := []string{e.request + " HTTP/1.1", "Host: plants.example", "Connection: close"}
	lines = append(lines, e.headers...)
	if e.auth != "" {
		lines = append(lines, e.auth)
	}
	if !slices.Contains(e.headers, chunked) {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(e.body)))
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

const chunked = "Transfer-Encoding: chunked"

// send sends a request exactly as written, unlike an HTTP client, and returns the response
// with its body.
func (e exchange) send(address, head string) (*http.Response, string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	sent := e.body
	if slices.Contains(e.headers, chunked) {
		sent = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(e.body), e.body)
	}
	if e.unfinished != "" {
		sent = sent[:len(sent)-1]
	}
	if _, err := io.WriteString(conn, head+sent); err != nil {
		return nil, "", err
	}
	if e.unfinished == "cut" {
		conn.(*net.TCPConn).CloseWrite()
	}
	method, _, _ := strings.Cut(e.request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// anything, as a wanted body, matches every body.
const anything = "anything"
